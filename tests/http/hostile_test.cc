#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "http/hostile_fixture.h"

// Requests that are malformed, too large or unusual.
namespace nicmon::http {
namespace {

long ResidentKiB() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return resident * (::getpagesize() / 1024);
}

TEST_F(Hostile, MalformedRequestsAreRefusedAndTheConnectionEnds) {
  Start();
  const std::string end = "\r\n";
  const std::string smuggled = kGet + end;
  const std::vector<std::pair<std::string, int>> cases = {
      {"GET /healthz\r\n\r\n", 400},
      {"GET  /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /healthz HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
      {"GET /healthz HTTP/2.0\r\nHost: a\r\n\r\n", 400},
      {"GET /healthz HTTP/1.1\nHost: localhost\n\n", 400},
      {"GET /healthz HTTP/1.1\r\n\r\n", 400},  // no Host
      {"GET healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"FOO /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {"G@T /healthz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 405},
      {std::string("\x16\x03\x01\x02", 4), 400},  // TLS
      {"\xff\xff\xff\xff", 400},
      {kGet + "X: a\rb\r\n\r\n", 400},
      {kGet + "X: a\nY: b\r\n\r\n", 400},
      {kGet + std::string("X: a\0b\r\n\r\n", 10), 400},
      {kGet + "X : a\r\n\r\n", 400},
      {kGet + " folded\r\n\r\n", 400},
      {kGet + "no colon\r\n\r\n", 400},
      {kGet + ": empty\r\n\r\n", 400},
      {kGet + "Host: again\r\n\r\n", 400},
      {kGet + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde" + smuggled, 400},
      {kGet + "Content-Length: -1\r\n\r\n" + smuggled, 400},
      {kGet + "Content-Length: +5\r\n\r\nabcde" + smuggled, 400},
      {kGet + "Content-Length: 5, 5\r\n\r\nabcde" + smuggled, 400},
      {kGet + "Content-Length: 0x5\r\n\r\nabcde" + smuggled, 400},
      {kGet + "Content-Length: \r\n\r\n" + smuggled, 400},
      {kGet + "Content-Length: 65537\r\n\r\n" + smuggled, 413},
      {kGet + "Content-Length: 99999999999999999999999\r\n\r\n" + smuggled, 413},
      {kGet + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled, 400},
      {kGet + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + smuggled, 400},
      {kGet + "Transfer-Encoding: chunked\r\n\r\n-1\r\n" + smuggled, 400},
      {kGet + "transfer-encoding: identity\r\n\r\n" + smuggled, 400},
      {kGet + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nabcde" + smuggled, 400},
      {"GET /" + std::string(2000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"GET /?" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"GET /" + std::string(20'000, 'a'), 400},
      {kGet + "X: " + std::string(17'000, 'a') + "\r\n\r\n", 400},
  };
  for (const auto& [bytes, status] : cases) {
    ExpectRefused(bytes, status, bytes.substr(0, 200));
  }
  EXPECT_EQ(Rejected("malformed") + Rejected("too_large"), cases.size());
}

TEST_F(Hostile, AHundredThousandHeadersCostNothing) {
  Start();
  std::string many = kGet;
  for (int i = 0; i < 101; ++i) {
    many += "a" + std::to_string(i) + ": b\r\n";
  }
  ExpectRefused(many + "\r\n", 400, "101 headers");
  RawClient client(tcp());
  many.clear();
  for (int i = 0; i < 100'000; ++i) {
    many += "a: b\r\n";
  }
  const long before = ResidentKiB();
  client.Send(kGet + many + "\r\n");
  const auto reply = client.Receive();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 400);
  EXPECT_LT(ResidentKiB() - before, 4096);
}

TEST_F(Hostile, AnEndlessHeaderIsCutOff) {
  Start();
  RawClient client(tcp());
  client.Send(kGet + "X: ");
  const std::string chunk(64 * 1024, 'a');
  const long before = ResidentKiB();
  int sent = 0;
  while (sent < 1000 && client.Send(chunk)) {
    ++sent;
  }
  EXPECT_LT(sent, 1000);  // it would be 64 MB
  EXPECT_LT(ResidentKiB() - before, 4096);
}

TEST_F(Hostile, AnUploadThatIsTooLargeGetsItsReply) {
  Start();
  RawClient client(tcp());
  const std::string body(1'000'000, 'x');
  client.Send(
      "POST /api/v1/release HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  std::thread upload([&] { client.Send(body); });
  const auto reply = client.Receive();
  upload.join();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 413);
}

TEST_F(Hostile, RangesAreIgnored) {
  Start();
  std::string ranges = "Range: bytes=0-1";
  for (int i = 0; i < 1500; ++i) {
    ranges += ",0-1";
  }
  const RawReply reply = Get("/metrics", ranges + "\r\n");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.body, node_.metrics);
  EXPECT_EQ(Get("/metrics", "Range: bytes=99999-\r\n").status, 200);
  EXPECT_EQ(Get("/metrics", "Range: rubbish\r\n").status, 200);
}

TEST_F(Hostile, EncodedHeaderValuesAreNotDecoded) {
  // The library would decode them: %0d%0a in a header must stay four plain bytes.
  options_.admin_token_file = WriteFile("tokens", "a:one\n");
  Start();
  EXPECT_EQ(Send(tcp(), "POST /api/v1/release?reason=x", "Authorization: Bearer on%65\r\n").status,
            401);
  EXPECT_EQ(Get("/api/v1/devices/%0d%0aX-Injected:%20yes").headers.count("x-injected"), 0U);
}

TEST_F(Hostile, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  RawClient client(tcp());
  client.Send("\r\n" + kGet +
              "\r\nGET /nope HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc" + kGet +
              "Connection: close\r\n\r\n");
  EXPECT_EQ(client.Receive().value().status, 200);
  EXPECT_EQ(client.Receive().value().status, 404);
  const auto last = client.Receive();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->status, 200);
  EXPECT_EQ(last->headers.at("connection"), "close");
  EXPECT_TRUE(client.WaitClosed());
}

TEST_F(Hostile, KeepAliveFollowsTheVersion) {
  Start();
  RawClient old(tcp());
  old.Send("GET /healthz HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.Receive().value().headers.at("connection"), "close");
  EXPECT_TRUE(old.WaitClosed());
  RawClient kept(tcp());
  kept.Send("GET /healthz HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
  EXPECT_EQ(kept.Receive().value().status, 200);
  kept.Send(kGet + "\r\n");
  EXPECT_EQ(kept.Receive().value().status, 200);
}

TEST_F(Hostile, ExpectContinue) {
  Start();
  RawClient client(admin());
  client.Send(
      "POST /api/v1/ports/mlx5_0/1/pause HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
      "Content-Length: 8\r\n\r\n");
  EXPECT_EQ(client.Receive().value().status, 100);
  client.Send("reason=x");
  EXPECT_EQ(client.Receive().value().status, 200);
}

}  // namespace
}  // namespace nicmon::http
