target_include_directories(nicmon_core PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")

# The status page: its parts joined and embedded.
set(page_dir "${CMAKE_CURRENT_SOURCE_DIR}/http/page")
set(page_text "${CMAKE_CURRENT_BINARY_DIR}/status_page_text.cc")
set(page_scripts dom.js format.js commands.js ports.js panels.js model.js live.js)
set(page_parts embed.cmake page.html page.css ${page_scripts})
list(TRANSFORM page_parts PREPEND "${page_dir}/")
string(REPLACE ";" "," page_scripts "${page_scripts}")
add_custom_command(
  OUTPUT "${page_text}"
  COMMAND ${CMAKE_COMMAND} "-DPAGE_DIR=${page_dir}" "-DSCRIPTS=${page_scripts}"
          "-DOUTPUT=${page_text}" -P "${page_dir}/embed.cmake"
  DEPENDS ${page_parts}
  COMMENT "Embedding the status page" VERBATIM)
target_sources(nicmon_core PRIVATE "${page_text}")

target_sources(
  nicmon_core
  PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/http/access.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/allowance.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/certificate.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/connection.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/connection_table.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/exchange.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/file_watch.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/gzip.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/http_stats.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/json_elements.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/json_history.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/json_reader.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/json_replies.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/json_simulator.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/json_stream.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/json_view.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/listener.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/listening_socket.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/lookup.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/openssl_error.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/parameters.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/passwords.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/records.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/refusals.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/render.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/request_head.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/request_reader.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/route_table.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/router.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/routes_control.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/routes_history.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/routes_hold.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/routes_probe.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/routes_read.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/routes_release.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/routes_requery.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/routes_stream.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/select.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/server.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/status_page.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/stream_differ.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/stream_hub.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/text.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/text_tables.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/times.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/tls_context.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/tls_names.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/tls_transport.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/token_file.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/transport.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/web_config.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/web_settings.cc
          ${CMAKE_CURRENT_SOURCE_DIR}/http/wire.cc)
