# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where. The installed tree finds itself by relative paths, so
# that it works under any prefix and can be moved.

set(YOKE_DATA_DESTINATION ${CMAKE_INSTALL_DATADIR}/yoke)
set(YOKE_PACKAGE_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/yoke)

file(RELATIVE_PATH YOKE_BIN_TO_LIB
  ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(YOKE_INSTALLED yoke yoke_plan)
set(YOKE_PACKAGES yoke yoke-plan)
if(YOKE_BUILD_COMM)
  list(APPEND YOKE_INSTALLED yoke_comm)
  list(APPEND YOKE_PACKAGES yoke-comm)
endif()
set_target_properties(${YOKE_INSTALLED} PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(yoke_command PROPERTIES INSTALL_RPATH "$ORIGIN/${YOKE_BIN_TO_LIB}")

install(TARGETS ${YOKE_INSTALLED} EXPORT yoke-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS yoke_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/yoke DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h")

install(DIRECTORY data/ DESTINATION ${YOKE_DATA_DESTINATION}
  PATTERN "*.py" EXCLUDE PATTERN "CMakeLists.txt" EXCLUDE PATTERN "README.md" EXCLUDE)
install(DIRECTORY schema DESTINATION ${YOKE_DATA_DESTINATION}
  FILES_MATCHING PATTERN "*.json")

# The documentation in the folders it has in the source, so that its links lead somewhere;
# schemas and headers are linked to where they are installed.
install(FILES README.md NEWS.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
  FILES_MATCHING PATTERN "*.md" PATTERN "*.json")
file(RELATIVE_PATH YOKE_DOC_TO_DATA ${CMAKE_INSTALL_FULL_DOCDIR}
  ${CMAKE_INSTALL_FULL_DATADIR}/yoke)
file(RELATIVE_PATH YOKE_DOC_TO_INCLUDE ${CMAKE_INSTALL_FULL_DOCDIR}
  ${CMAKE_INSTALL_FULL_INCLUDEDIR})
install(CODE "
  set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
  file(CREATE_LINK ${YOKE_DOC_TO_DATA}/schema \"\${folder}/schema\" SYMBOLIC)
  file(CREATE_LINK ${YOKE_DOC_TO_INCLUDE} \"\${folder}/include\" SYMBOLIC)")

# Manual pages and completion, made by tools/.
install(FILES ${YOKE_REFERENCE_PAGES} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${YOKE_REFERENCE_COMPLETION}
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME yoke)

# find_package(yoke) gives yoke::yoke, yoke::yoke_plan and yoke::yoke_comm.
install(EXPORT yoke-targets NAMESPACE yoke:: DESTINATION ${YOKE_PACKAGE_DESTINATION})
configure_package_config_file(cmake/yoke-config.cmake.in ${PROJECT_BINARY_DIR}/yoke-config.cmake
  INSTALL_DESTINATION ${YOKE_PACKAGE_DESTINATION})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/yoke-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/yoke-config.cmake
  ${PROJECT_BINARY_DIR}/yoke-config-version.cmake DESTINATION ${YOKE_PACKAGE_DESTINATION})

# pkg-config; the prefix is found from where the file lies.
file(RELATIVE_PATH YOKE_PC_TO_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(package ${YOKE_PACKAGES})
  configure_file(cmake/${package}.pc.in ${PROJECT_BINARY_DIR}/${package}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${package}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# `cpack` makes a .deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME yoke)
set(CPACK_PACKAGE_CONTACT "The Yoke authors <yoke@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6, libhwloc15, libjansson4, zlib1g")
if(YOKE_BUILD_COMM)
  string(APPEND CPACK_DEBIAN_PACKAGE_DEPENDS ", libucx0, libpmix2, libnettle8")
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ocl-icd-libopencl1, libopenblas0-pthread")
include(CPack)
