# Writes nicmon_revision.h when the revision has changed. Run with -P at every build: a revision
# taken at configure time would be that of some earlier commit.
# Variables: SOURCE_DIR, OUTPUT, REVISION (not empty: taken as it is, for builds without .git).
if(NOT REVISION)
  find_program(GIT git)
  if(GIT)
    execute_process(
      COMMAND "${GIT}" -C "${SOURCE_DIR}" describe --always --dirty --abbrev=12 --exclude=*
      OUTPUT_VARIABLE REVISION OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
if(NOT REVISION)
  set(REVISION "unknown")
endif()
set(text "#pragma once\n#define NICMON_REVISION_TEXT \"${REVISION}\"\n")
set(old "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
