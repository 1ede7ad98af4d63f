nicmon_test(sysfs_test ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/files_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/identity_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/kept_file_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/link_attributes_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/netdev_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/stats_layout_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/stats_sampler_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/stats_value_test.cc
            ${CMAKE_CURRENT_SOURCE_DIR}/sysfs/text_test.cc)
