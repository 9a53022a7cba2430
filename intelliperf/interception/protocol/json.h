// JSON, read and written, as much as container metadata, records and the wire protocol need.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simt {

class JsonValue {
 public:
  enum class Kind : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };

  // Null for a text that is not JSON; `ok` says which of the two it was.
  static JsonValue parse(std::string_view text, bool* ok);

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  // A member of an object; a null value if absent or if this is not an object.
  const JsonValue& operator[](std::string_view key) const;
  const std::vector<JsonValue>& items() const { return items_; }
  const std::vector<std::pair<std::string, JsonValue>>& members() const { return members_; }
  const std::string& text() const { return text_; }
  double number() const { return number_; }
  uint64_t unsigned_or(uint64_t otherwise) const;
  bool boolean() const { return kind_ == Kind::kBoolean && number_ != 0; }

 private:
  friend class JsonReader;
  Kind kind_ = Kind::kNull;
  double number_ = 0;
  std::string text_;  // of a string; of a number as it was written
  std::vector<JsonValue> items_;
  std::vector<std::pair<std::string, JsonValue>> members_;
};

// Builds one JSON text; commas are put in by itself.
class JsonWriter {
 public:
  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view value);
  JsonWriter& number(uint64_t value);
  JsonWriter& integer(int64_t value);
  JsonWriter& real(double value);  // not-a-number and infinities become null
  JsonWriter& boolean(bool value);
  JsonWriter& null();
  JsonWriter& raw(std::string_view json);
  const std::string& text() const { return text_; }

 private:
  void separate();
  std::string text_;
  bool need_comma_ = false;
};

// Writes a value that was read.
void copy_json(JsonWriter& into, const JsonValue& value);

}  // namespace simt
