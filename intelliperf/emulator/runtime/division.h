// Integer divisions that this processor refuses and a GPU does not.
#pragma once
#include <ucontext.h>

namespace simt {

// Resumes behind the division at which the context stands. The language leaves it undefined; on a GPU nothing stops. The
// quotient of a division by zero is all ones here, or 1 where a signed dividend is negative, and the remainder is the
// dividend; the least number divided by -1 is itself. False where it cannot be decoded: nothing is done then.
bool pass_division(ucontext_t& context);

}  // namespace simt
