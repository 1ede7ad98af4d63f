# Joins the parts of the status page into one HTML file and writes it as a C++ string:
#   cmake -DPAGE_DIR=src/http/page -DSCRIPTS=a.js,b.js -DOUTPUT=status_page_text.cc -P embed.cmake
# The scripts share one scope, in the order given.
file(READ "${PAGE_DIR}/page.html" page)
file(READ "${PAGE_DIR}/page.css" style)
set(script "")
string(REPLACE "," ";" SCRIPTS "${SCRIPTS}")
foreach(name IN LISTS SCRIPTS)
  file(READ "${PAGE_DIR}/${name}" text)
  string(APPEND script "\n${text}")
endforeach()
string(REPLACE "<style></style>" "<style>\n${style}</style>" page "${page}")
string(REPLACE "<script></script>" "<script>\n'use strict';\n${script}</script>" page "${page}")
string(FIND "${page}" ")page\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "the page ends its own C++ string")
endif()
file(WRITE "${OUTPUT}" "#include \"http/status_page.h\"\n\nnamespace nicmon::http {\n\n"
     "extern const std::string_view kStatusPage = R\"page(${page})page\";\n\n"
     "}  // namespace nicmon::http\n")
