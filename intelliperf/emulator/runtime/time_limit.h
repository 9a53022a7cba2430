// How long an altered launch may take of the processor: a number that makes the original slow is left alone. A program
// beside the original has longer, but only as long as its parent waits for that launch: where the original has failed
// with it, nothing is compared.
#pragma once

namespace simt {

double processor_seconds();  // of this thread

class TimeLimit {
 public:
  void begin(double seconds) {
    look_s_ = processor_seconds() + kLookS;
    end_s_ = look_s_ - kLookS + seconds;
  }
  bool over();

 private:
  static constexpr double kLookS = 0.1;
  double end_s_ = 0, look_s_ = 0;  // 0: there is no limit
};

}  // namespace simt
