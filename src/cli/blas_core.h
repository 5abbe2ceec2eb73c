// OpenBLAS on a CPU that is newer than itself.
#pragma once

namespace edelta::cli {

// Where OpenBLAS did not recognise the CPU, begins this program again with the variable that tells
// it: OpenBLAS reads it when it is loaded, so in this process it is too late. Call it after
// open_standard_streams and before all else, since what is open stays open in the new process. What
// the user has set stays; it returns where there is nothing to mend.
void restart_with_right_blas_core(char** argv);

}  // namespace edelta::cli
