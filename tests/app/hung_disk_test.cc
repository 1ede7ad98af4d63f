#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "app/holds_process.h"
#include "testing/stopwatch.h"

// What goes on while the disk of the state directory does not answer, and what has become of a
// decision when it does again.
namespace nicmon {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::WaitFor;

/// Whether `text` comes out of a socket in the next seconds.
bool Hears(int socket, const std::string& text) {
  std::string heard;
  std::array<char, 4096> buffer;
  pollfd wait{socket, POLLIN, 0};
  while (heard.find(text) == std::string::npos && ::poll(&wait, 1, 10000) == 1) {
    const ssize_t n = ::read(socket, buffer.data(), buffer.size());
    if (n <= 0) {
      return false;
    }
    heard.append(buffer.data(), static_cast<size_t>(n));
  }
  return heard.find(text) != std::string::npos;
}

using NamesByDevice = std::map<std::string, std::string>;

class HungDisk : public HoldsProcess {
 protected:
  void StartOnIt() {
    Start({"--log-level=info"}, {"LD_PRELOAD=" NICMON_HANG_DISK, "HANG_DIR=" + StateDir(),
                                 "HANG_FLAG=" + tree_.Path("hang").string()});
    ASSERT_TRUE(WaitFor([&] { return AllKnown(); }));
  }
  void Hang(const char* kind) const { tree_.File(std::string("hang.") + kind, ""); }
  void Answer(const char* kind) const { tree_.Remove(std::string("hang.") + kind); }
  std::string File() const {
    std::ostringstream text;
    text << std::ifstream(StateDir() + "/holds.json").rdbuf();
    return text.str();
  }
  /// How often a file was put in the place of another.
  uintmax_t Renames() const { return std::filesystem::file_size(tree_.Path("hang.renamed")); }
  /// The status of a reply that has to come within `limit`.
  int Within(seconds limit, const std::string& method, const std::string& target,
             const std::string& body = {}) const {
    const testing::Stopwatch stopwatch;
    const int status = Status(Ask(method, target, body));
    EXPECT_LT(stopwatch.Elapsed(), limit) << target;
    return status;
  }
};
class AnyHungDisk : public HungDisk, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kind, AnyHungDisk, ::testing::Values("sync", "rename", "all"),
                         [](const auto& kind) { return std::string(kind.param); });

TEST_P(AnyHungDisk, RefusesDecisionsInTimeAndAllElseGoesOn) {
  StartOnIt();
  ASSERT_EQ(Status(Ask("POST", Port(0) + "/pause", "reason=before")), 200);
  Hang(GetParam());
  const std::string refused = Ask("POST", Port(1) + "/pause", "reason=hangs");
  EXPECT_EQ(Status(refused), 503);
  EXPECT_THAT(refused, HasSubstr("\"not_stored\""));
  EXPECT_THAT(refused, HasSubstr("the disk does not answer"));
  EXPECT_EQ(Within(seconds(2), "POST", Port(0) + "/resume"), 503) << "known by now";
  EXPECT_EQ(Within(seconds(2), "POST", "/api/v1/release", "reason=hangs"), 503);

  EXPECT_EQ(Held(), (NamesByDevice{{"mlx5_0", "before"}}));
  EXPECT_EQ(Paused(), Held());
  EXPECT_EQ(Metric("nicmon_holds_durable"), "0");
  for (const char* path : {"/metrics", "/healthz", "/api/v1/ports", "/api/v1/devices"}) {
    EXPECT_EQ(Within(seconds(2), "GET", path), 200) << path;
  }
  EXPECT_EQ(Within(seconds(2), "POST", Port(1) + "/requery"), 200) << "monitoring goes on";

  Answer(GetParam());
  ASSERT_TRUE(WaitFor([&] { return Metric("nicmon_holds_durable") == "1"; }));
  EXPECT_THAT(File(), HasSubstr("\"before\""));
  EXPECT_THAT(File(), Not(HasSubstr("\"hangs\""))) << "what was refused does not come after all";
  EXPECT_EQ(Held(), (NamesByDevice{{"mlx5_0", "before"}}));
  EXPECT_EQ(Status(Ask("POST", Port(1) + "/pause", "reason=after")), 200);
  Kill();
  Start();
  EXPECT_EQ(Held(), (NamesByDevice{{"mlx5_0", "before"}, {"mlx5_1", "after"}}));
}

TEST_F(HungDisk, WhatIsNotWantedAnyMoreIsNotPutInPlace) {
  StartOnIt();
  ASSERT_EQ(Status(Ask("POST", Port(0) + "/pause", "reason=before")), 200);
  ASSERT_TRUE(WaitFor([&] { return Metric("nicmon_holds_durable") == "1"; }));
  Hang("sync");
  const uintmax_t before = Renames();
  EXPECT_EQ(Status(Ask("POST", Port(1) + "/pause", "reason=hangs")), 503);
  Answer("sync");
  ASSERT_TRUE(WaitFor([&] { return Metric("nicmon_holds_durable") == "1"; }));
  EXPECT_EQ(Renames(), before + 1) << "only that of what is in force";
}

TEST_P(AnyHungDisk, DoesNotKeepTheProcessFromEnding) {
  StartOnIt();
  Hang(GetParam());
  EXPECT_EQ(Status(Ask("POST", Port(1) + "/pause", "reason=hangs")), 503);
  const testing::Stopwatch stopwatch;
  Stop();
  EXPECT_LT(stopwatch.Elapsed(), seconds(2));
}

TEST_F(HungDisk, TheHistoryIsRefusedInTimeAndTheStreamGoesOn) {
  StartOnIt();
  const UniqueFd stream = testing::ConnectUnix(Socket());
  const std::string request = "GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n";
  ASSERT_EQ(::send(stream.get(), request.data(), request.size(), 0),
            static_cast<ssize_t>(request.size()));
  ASSERT_TRUE(Hears(stream.get(), "event: snapshot"));
  Hang("all");
  for (const char* state : {"down", "active", "down"}) {  // each has to get past the one before
    const std::string command = std::string(R"({"device":"mlx5_3","port":1,"set":{"state":")") +
                                state + R"("},"event":"PORT_ERR"})";
    ASSERT_EQ(Status(Ask("POST", "/api/v1/simulator", command)), 200);
    EXPECT_TRUE(Hears(stream.get(), "\"type\":\"link\"")) << state;
  }
  // More than may hang at the same time.
  std::vector<std::thread> readers;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 12; ++i) {
    readers.emplace_back([&] { refused += Status(Ask("GET", "/api/v1/events")) == 503 ? 1 : 0; });
  }
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(refused, 12);
  EXPECT_EQ(Within(seconds(2), "GET", "/api/v1/events"), 503) << "known by now";
  EXPECT_EQ(Within(seconds(2), "GET", "/metrics"), 200);
  Answer("all");
  EXPECT_TRUE(WaitFor([&] { return Status(Ask("GET", "/api/v1/events")) == 200; }));
}

}  // namespace
}  // namespace nicmon
