#include "json.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace simt {

namespace {

const JsonValue kNothing;
constexpr int kDeepest = 200;

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  bool document(JsonValue& into) {
    const bool read = value(into, 0);
    blank();
    return read && at_ == text_.size();
  }

 private:
  void blank() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(char wanted) {
    blank();
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view wanted) {
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }

  bool value(JsonValue& into, int depth) {
    blank();
    if (at_ >= text_.size() || depth > kDeepest) return false;
    switch (text_[at_]) {
      case '{':
        return object(into, depth);
      case '[':
        return array(into, depth);
      case '"':
        into.kind_ = JsonValue::Kind::kString;
        return string(into.text_);
      case 't':
        into.kind_ = JsonValue::Kind::kBoolean;
        into.number_ = 1;
        return word("true");
      case 'f':
        into.kind_ = JsonValue::Kind::kBoolean;
        return word("false");
      case 'n':
        return word("null");
      default:
        return number(into);
    }
  }

  bool object(JsonValue& into, int depth) {
    into.kind_ = JsonValue::Kind::kObject;
    ++at_;
    if (take('}')) return true;
    do {
      blank();
      auto& member = into.members_.emplace_back();
      if (at_ >= text_.size() || text_[at_] != '"' || !string(member.first)) return false;
      if (!take(':') || !value(member.second, depth + 1)) return false;
    } while (take(','));
    return take('}');
  }

  bool array(JsonValue& into, int depth) {
    into.kind_ = JsonValue::Kind::kArray;
    ++at_;
    if (take(']')) return true;
    do {
      if (!value(into.items_.emplace_back(), depth + 1)) return false;
    } while (take(','));
    return take(']');
  }

  bool number(JsonValue& into) {
    const size_t from = at_;
    while (at_ < text_.size() && (std::string_view("+-.eE").find(text_[at_]) != std::string_view::npos ||
                                  (text_[at_] >= '0' && text_[at_] <= '9')))
      ++at_;
    into.kind_ = JsonValue::Kind::kNumber;
    into.text_ = std::string(text_.substr(from, at_ - from));
    const char* end = into.text_.data() + into.text_.size();
    const auto [stop, error] = std::from_chars(into.text_.data(), end, into.number_);  // whatever the locale
    return error == std::errc() && stop == end;
  }

  bool hex4(uint32_t& code) {
    if (at_ + 4 > text_.size()) return false;
    code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = text_[at_++];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return false;
      code = code * 16 + static_cast<uint32_t>(digit);
    }
    return true;
  }

  bool escape(std::string& into) {
    if (at_ >= text_.size()) return false;
    const char kind = text_[at_++];
    switch (kind) {
      case 'n':
        into += '\n';
        return true;
      case 't':
        into += '\t';
        return true;
      case 'r':
        into += '\r';
        return true;
      case 'b':
        into += '\b';
        return true;
      case 'f':
        into += '\f';
        return true;
      case '"':
      case '\\':
      case '/':
        into += kind;
        return true;
      case 'u':
        break;
      default:
        return false;
    }
    uint32_t code = 0, low = 0;
    if (!hex4(code)) return false;
    if (code >= 0xD800 && code < 0xDC00) {
      if (!word("\\u") || !hex4(low) || low < 0xDC00 || low > 0xDFFF) return false;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(into, code);
    return true;
  }

  bool string(std::string& into) {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (c != '\\') {
        into += c;
      } else if (!escape(into)) {
        return false;
      }
    }
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
};

JsonValue JsonValue::parse(std::string_view text, bool* ok) {
  JsonValue root;
  *ok = JsonReader(text).document(root);
  return *ok ? std::move(root) : JsonValue();
}

const JsonValue& JsonValue::operator[](std::string_view key) const {
  for (const auto& member : members_)
    if (member.first == key) return member.second;
  return kNothing;
}

uint64_t JsonValue::unsigned_or(uint64_t otherwise) const {
  if (kind_ != Kind::kNumber || number_ < 0) return otherwise;
  if (text_.find_first_of(".eE") == std::string::npos) return std::strtoull(text_.c_str(), nullptr, 10);
  return static_cast<uint64_t>(number_);
}

void JsonWriter::separate() {
  if (need_comma_) text_ += ',';
  need_comma_ = true;
}

JsonWriter& JsonWriter::begin_object() {
  separate();
  text_ += '{';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  text_ += '}';
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  separate();
  text_ += '[';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  text_ += ']';
  need_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  string(name);
  text_ += ':';
  need_comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view value) {
  separate();
  text_ += '"';
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      text_ += escaped;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
  return *this;
}

JsonWriter& JsonWriter::number(uint64_t value) {
  separate();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::integer(int64_t value) {
  separate();
  text_ += std::to_string(value);
  return *this;
}

JsonWriter& JsonWriter::real(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  char digits[40];
  const auto [stop, error] = std::to_chars(digits, digits + sizeof digits, value);
  if (error == std::errc()) text_.append(digits, stop);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }

JsonWriter& JsonWriter::null() { return raw("null"); }

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

void copy_json(JsonWriter& into, const JsonValue& value) {
  switch (value.kind()) {
    case JsonValue::Kind::kNull:
      into.null();
      break;
    case JsonValue::Kind::kBoolean:
      into.boolean(value.boolean());
      break;
    case JsonValue::Kind::kNumber:
      into.raw(value.text());
      break;
    case JsonValue::Kind::kString:
      into.string(value.text());
      break;
    case JsonValue::Kind::kArray:
      into.begin_array();
      for (const JsonValue& item : value.items()) copy_json(into, item);
      into.end_array();
      break;
    case JsonValue::Kind::kObject:
      into.begin_object();
      for (const auto& member : value.members()) copy_json(into.key(member.first), member.second);
      into.end_object();
      break;
  }
}

}  // namespace simt
