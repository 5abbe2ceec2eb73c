include(CMakePackageConfigHelpers)

list(TRANSFORM edelta_layers PREPEND edelta_ OUTPUT_VARIABLE layer_targets)
list(REMOVE_ITEM layer_targets edelta_python)  # for Python alone, inside libedelta_torch.so
install(TARGETS edelta_library ${layer_targets} EXPORT edeltaTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS edelta RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/edelta DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/edelta)
install(EXPORT edeltaTargets NAMESPACE edelta:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/edeltaConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/edeltaConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/edeltaConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/edeltaConfig.cmake ${PROJECT_BINARY_DIR}/edeltaConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake
        DESTINATION ${package_dir})

# The Python package, where the system's Python looks below this prefix: in /usr/local it finds it by itself. Python
# may come after the configuration, and the library may not be built: neither is needed for the rest.
install(CODE "
  set(library \"$<TARGET_FILE:edelta_torch>\")
  set(package \"${PROJECT_SOURCE_DIR}/python/edelta\")")
install(CODE [[
  execute_process(COMMAND /usr/bin/python3 -c "import sys; print('python%d.%d' % sys.version_info[:2])"
                  OUTPUT_VARIABLE python OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT EXISTS ${library})
    message(STATUS "Not installed: the Python package, because libedelta_torch.so is not built")
  elseif(failed)
    message(STATUS "Not installed: the Python package, because there is no /usr/bin/python3")
  else()
    set(folder ${CMAKE_INSTALL_PREFIX}/lib/${python}/dist-packages)
    file(INSTALL ${package} DESTINATION ${folder} PATTERN __pycache__ EXCLUDE)
    file(INSTALL ${library} DESTINATION ${folder}/edelta TYPE SHARED_LIBRARY)
  endif()
]])
