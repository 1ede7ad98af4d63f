#include "http/gzip.h"

#include <zlib.h>

#include <memory>

#include "http/text.h"

namespace nicmon::http {

std::optional<std::string> Gzip(std::string_view text) {
  constexpr int kWindowBitsWithGzipHeader = 15 + 16;
  constexpr int kMemoryLevel = 8;
  z_stream stream{};
  if (::deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kWindowBitsWithGzipHeader, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    return std::nullopt;
  }
  const std::unique_ptr<z_stream, decltype(&::deflateEnd)> owner(&stream, ::deflateEnd);
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (::deflate(&stream, Z_FINISH) != Z_STREAM_END) {
    return std::nullopt;
  }
  out.resize(stream.total_out);
  return out;
}

bool AcceptsGzip(std::string_view accept_encoding) {
  const auto gzip = ListedQuality(accept_encoding, "gzip");
  return gzip ? *gzip > 0 : ListedQuality(accept_encoding, "*").value_or(0) > 0;
}

}  // namespace nicmon::http
