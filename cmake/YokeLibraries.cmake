# SPDX-License-Identifier: Apache-2.0
# libyoke: base, inventory, hal, backends. libyoke_plan: costmodel, partition.
# libyoke_comm: ucx_comm, and of costmodel the collective costs.
# The rooms are object libraries, so that a test can link one room alone.

include(YokeSymbols)
set(YOKE_SOVERSION 0)

add_library(yoke SHARED
  $<TARGET_OBJECTS:yoke_base>
  $<TARGET_OBJECTS:yoke_inventory>
  $<TARGET_OBJECTS:yoke_hal>
  $<TARGET_OBJECTS:yoke_backends>)
target_link_libraries(yoke PRIVATE PkgConfig::JANSSON PkgConfig::HWLOC PkgConfig::ZLIB Threads::Threads
                      ${CMAKE_DL_LIBS} m)

add_library(yoke_plan SHARED
  $<TARGET_OBJECTS:yoke_costmodel>
  $<TARGET_OBJECTS:yoke_partition>)
target_link_libraries(yoke_plan PUBLIC yoke PRIVATE PkgConfig::JANSSON)

set(YOKE_LIBRARIES yoke yoke_plan)
if(YOKE_BUILD_COMM)
  list(APPEND YOKE_LIBRARIES yoke_comm)
  # The collective costs are costmodel's one file that needs nothing of it.
  add_library(yoke_comm SHARED
    $<TARGET_OBJECTS:yoke_comm_control>
    $<TARGET_OBJECTS:yoke_comm_transport>
    $<TARGET_OBJECTS:yoke_comm_staging>
    $<TARGET_OBJECTS:yoke_comm_vendor>
    $<TARGET_OBJECTS:yoke_ucx_comm>
    ${PROJECT_SOURCE_DIR}/costmodel/collective.c)
  target_include_directories(yoke_comm PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(yoke_comm PUBLIC yoke PRIVATE PkgConfig::UCX PkgConfig::PMIX PkgConfig::NETTLE
                        PkgConfig::JANSSON PkgConfig::ZLIB Threads::Threads m)
endif()

foreach(library ${YOKE_LIBRARIES})
  set_target_properties(${library} PROPERTIES
    VERSION ${PROJECT_VERSION}
    SOVERSION ${YOKE_SOVERSION}
    LINK_DEPENDS ${YOKE_VERSION_SCRIPT})
  target_link_options(${library} PRIVATE
    -Wl,--version-script=${YOKE_VERSION_SCRIPT} -Wl,--no-undefined)
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
if(YOKE_SANITIZE)
  # The sanitizer's run time is in the executable, not in the library.
  foreach(library ${YOKE_LIBRARIES})
    target_link_options(${library} PRIVATE -Wl,--undefined-version -Wl,-z,undefs)
  endforeach()
endif()
