include(CMakePackageConfigHelpers)

list(TRANSFORM edelta_layers PREPEND edelta_ OUTPUT_VARIABLE layer_targets)
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
