// Nothing of its own: a layer is linked whole around it (see tests/CMakeLists.txt).
