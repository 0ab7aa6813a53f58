# SPDX-License-Identifier: Apache-2.0
# What the two libraries export, as a version script of the linker:
#   YOKE_<interface>       every function and object that include/yoke/*.h declares
#   YOKE_PRIVATE_<version> what libyoke_plan and the command, which are installed together with
#                          libyoke, need besides (cmake/private_symbols.txt). Not for others: the
#                          name has the whole version in it, so that nothing else can rely on it.
# tests/install/symbols.sh compares what the libraries export with the headers, and the second
# list with what the two really use.

set(YOKE_INTERFACE 0.1) # of the exported names; moves only when a release breaks programs
set(YOKE_VERSION_SCRIPT ${PROJECT_BINARY_DIR}/yoke.map)

# Names that a header declares as functions; those defined in it (static inline) and types of
# functions are none.
function(yoke_declared_symbols header out_names)
  file(READ ${header} text)
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX REPLACE "#[^\n]*(\\\\\n[^\n]*)*" "" text "${text}")
  string(REGEX REPLACE "static inline[^;{]*{" "{" text "${text}")
  # Bodies of inline functions call others, which are declared in their own place.
  string(REGEX MATCHALL "[ *\n]yoke_[a-z0-9_]+\\(" found "${text}")
  set(names "")
  foreach(name ${found})
    string(REGEX REPLACE "[ *\n(]" "" name "${name}")
    list(APPEND names ${name})
  endforeach()
  set(${out_names} ${names} PARENT_SCOPE)
endfunction()

file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/yoke/*.h)
set(private_list ${PROJECT_SOURCE_DIR}/cmake/private_symbols.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers} ${private_list})
set(public "")
foreach(header ${headers})
  yoke_declared_symbols(${header} names)
  list(APPEND public ${names})
endforeach()
list(REMOVE_DUPLICATES public)
list(SORT public)
file(STRINGS ${private_list} private REGEX "^yoke_")

set(script "YOKE_${YOKE_INTERFACE} {\n  global:\n")
foreach(name ${public})
  string(APPEND script "    ${name};\n")
endforeach()
string(APPEND script "  local:\n    *;\n};\n\nYOKE_PRIVATE_${PROJECT_VERSION} {\n  global:\n")
foreach(name ${private})
  string(APPEND script "    ${name};\n")
endforeach()
string(APPEND script "} YOKE_${YOKE_INTERFACE};\n")
file(CONFIGURE OUTPUT ${YOKE_VERSION_SCRIPT} CONTENT "${script}" @ONLY)
