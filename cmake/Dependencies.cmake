# What the library needs, here and in a program that uses the installed package.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Torch REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(libxsmm REQUIRED IMPORTED_TARGET libxsmm)
# Linked into every program, so that its sgemm_ comes before the one of the system's default BLAS and
# libtorch uses it; libxsmm's static library needs a BLAS as well.
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)
# Ranks prove to each other that they belong to one run, and ARC's grids are known by their SHA-256.
pkg_check_modules(libcrypto REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
