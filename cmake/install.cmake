# What `cmake --install` lays down, and from it the Debian package (cpack -G DEB).
include(GNUInstallDirs)
install(TARGETS nicmon RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(FILES deploy/completion/nicmon.bash
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME nicmon)
install(FILES README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME copyright)
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs")
install(DIRECTORY deploy/slurm deploy/node-problem-detector
        DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" USE_SOURCE_PERMISSIONS)
install(DIRECTORY deploy/prometheus DESTINATION "${CMAKE_INSTALL_DATADIR}/nicmon"
        PATTERN "*.test.yml" EXCLUDE)
install(FILES dashboards/rdma-fleet.json dashboards/rdma-node.json
        DESTINATION "${CMAKE_INSTALL_DATADIR}/nicmon/dashboards")

# systemd finds units below every prefix it knows under lib/, whatever the library directory is.
set(NICMON_PROGRAM "${CMAKE_INSTALL_FULL_BINDIR}/nicmon")
configure_file(deploy/systemd/nicmon.service.in nicmon.service @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/nicmon.service" DESTINATION lib/systemd/system)
install(FILES deploy/systemd/nicmon.sysusers.conf DESTINATION lib/sysusers.d RENAME nicmon.conf)
install(FILES deploy/systemd/nicmon.conf DESTINATION "${CMAKE_INSTALL_FULL_SYSCONFDIR}/nicmon")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nicmon)
set(CPACK_PACKAGE_VENDOR nicmon)
set(CPACK_PACKAGE_CONTACT "nicmon maintainers <nicmon@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
    "Watches every RDMA port of a node by verbs events and polling, exports state, effective speed
and counters to Prometheus, and lets on-call engineers revalidate or hold a port.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# libibverbs is opened at run time, so nothing in the program asks for it.
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "libibverbs1, ibverbs-providers, systemd-standalone-sysusers | systemd")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    "${CMAKE_CURRENT_SOURCE_DIR}/deploy/debian/postinst"
    "${CMAKE_CURRENT_SOURCE_DIR}/deploy/debian/prerm"
    "${CMAKE_CURRENT_SOURCE_DIR}/deploy/debian/postrm"
    "${CMAKE_CURRENT_SOURCE_DIR}/deploy/debian/conffiles")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Packages of two Debian releases differ in what they depend on, so they differ in name too.
if(EXISTS /etc/os-release)
  file(STRINGS /etc/os-release id REGEX "^VERSION_ID=")
  string(REGEX REPLACE "[^0-9]" "" id "${id}")
  set(CPACK_DEBIAN_PACKAGE_RELEASE "1~deb${id}")
endif()
include(CPack)
