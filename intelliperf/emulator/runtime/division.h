// Integer divisions that this processor refuses and a GPU does not.
#pragma once
#include <ucontext.h>

namespace simt {

// Goes on behind the division at which the context stands. The language leaves it undefined; on a GPU nothing stops. Of a
// division by zero the quotient is all ones here, or 1 where a dividend with a sign is negative, and the remainder the
// dividend; the least number divided by -1 is itself. False: it is no division that this knows, and nothing is done.
bool pass_division(ucontext_t& context);

}  // namespace simt
