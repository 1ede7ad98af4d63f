#include <sys/mount.h>
#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "app/holds_process.h"

// Holds over the ends of the real process: kill -9 at any moment, a full disk, a read-only one.
namespace nicmon {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;
using testing::Child;
using ::testing::HasSubstr;
using testing::TempTree;
using testing::WaitFor;

/// An operator who pauses and resumes without a break, and knows what was acknowledged.
class Operator {
 public:
  using State = std::map<std::string, std::string>;  // device → reason
  using Send = std::function<int(const std::string& device, const std::string& reason)>;

  /// `send` pauses for `reason`, or resumes where that is empty; the status of the reply.
  Operator(State known, unsigned seed, Send send)
      : acknowledged_(std::move(known)), random_(seed), send_(std::move(send)) {}

  void Run() {
    for (int i = 0;; ++i) {
      const std::string device = "mlx5_" + std::to_string(random_() % kDevices);
      const std::string reason = random_() % 4 == 0 ? "" : "r" + std::to_string(random_());
      State next = acknowledged_;
      if (reason.empty()) {
        next.erase(device);
      } else {
        next[device] = reason;
      }
      wanted_ = next;
      status_ = send_(device, reason);
      if (status_ != 200) {
        return;  // killed: the last one may have been done or not
      }
      acknowledged_ = next;
      ++count_;
    }
  }

  const State& acknowledged() const { return acknowledged_; }
  const State& wanted() const { return wanted_; }
  int count() const { return count_.load(); }
  /// Of the last reply; 0: there was none.
  int status() const { return status_.load(); }

 private:
  State acknowledged_, wanted_;
  std::mt19937 random_;
  Send send_;
  std::atomic<int> count_{0};
  std::atomic<int> status_{200};
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRounds = 50;  // a start takes several times as long
#else
constexpr int kRounds = 250;
#endif

TEST_F(HoldsProcess, NothingAcknowledgedIsLostByKill9) {
  std::mt19937 random(4711);
  std::map<std::string, std::string> held;
  int acknowledged = 0;
  int in_between = 0;
  Start();
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    ASSERT_TRUE(WaitFor([&] { return AllKnown(); }));
    std::string reply;
    Operator ops(held, static_cast<unsigned>(random()),
                 [&](const std::string& device, const std::string& reason) {
                   const std::string port = "/api/v1/ports/" + device + "/1";
                   reply = reason.empty() ? Ask("POST", port + "/resume")
                                          : Ask("POST", port + "/pause",
                                                "replace=true&ttl=1h&reason=" + reason);
                   return Status(reply);
                 });
    std::thread thread([&ops] { ops.Run(); });
    const int at_least = static_cast<int>(random() % 4);
    WaitFor([&] { return ops.count() >= at_least || ops.status() != 200; });
    const int count = ops.count();
    // Not a wait for anything: the moment is to be any.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 10000));
    Kill();
    thread.join();
    ASSERT_GE(count, at_least) << "round " << round << ": " << reply;
    Start();
    held = Held();
    EXPECT_TRUE(held == ops.acknowledged() || held == ops.wanted())
        << "round " << round << ": " << Json(held) << " is neither " << Json(ops.acknowledged())
        << " nor " << Json(ops.wanted());
    // From the first sight of a port on.
    for (const auto& [device, note] : Paused()) {
      EXPECT_EQ(held[device], note);
    }
    ASSERT_TRUE(WaitFor([&] { return AllKnown(); }));
    EXPECT_EQ(Paused(), held);
    acknowledged += ops.count();
    in_between += held == ops.wanted() && ops.wanted() != ops.acknowledged() ? 1 : 0;
  }
  EXPECT_EQ(Metric("nicmon_holds_lost"), "0");
  std::printf("%d rounds, %d decisions acknowledged, %d done that nobody was told of\n", kRounds,
              acknowledged, in_between);
  EXPECT_GT(acknowledged, kRounds);
}

TEST_F(HoldsProcess, WithoutItsFileItGivesNoIdASecondTime) {
  std::set<std::string> ids;
  for (int start = 0; start < 3; ++start) {
    Start();
    ASSERT_TRUE(WaitFor([&] { return AllKnown(); }));
    ASSERT_EQ(Status(Ask("POST", Port(0) + "/pause", "reason=x")), 200);
    const std::string id = Get("/api/v1/holds")["holds"].at(0)["id"];
    EXPECT_TRUE(ids.insert(id).second) << id;
    Stop();
    std::filesystem::remove(StateDir() + "/holds.json");
  }
}

TEST_F(HoldsProcess, AFullDiskRefusesDecisionsAndNothingElse) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllKnown(); }));
  ASSERT_EQ(Status(Ask("POST", Port(0) + "/pause", "reason=before")), 200);
  ASSERT_TRUE(WaitFor([&] { return Metric("nicmon_holds_durable") == "1"; }));
  const rlimit full{64, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(child_->pid(), RLIMIT_FSIZE, &full, nullptr), 0);
  const std::string refused = Ask("POST", Port(1) + "/pause", "reason=full");
  EXPECT_EQ(Status(refused), 503);
  EXPECT_THAT(refused, HasSubstr("\"not_stored\""));
  EXPECT_THAT(refused, HasSubstr("Retry-After: "));
  EXPECT_EQ(Status(Ask("POST", Port(0) + "/resume")), 503);
  EXPECT_EQ(Status(Ask("POST", "/api/v1/release", "reason=full")), 503);
  EXPECT_EQ(Status(Ask("POST", Port(0) + "/accept-speed")), 503);
  EXPECT_EQ(Held(), (std::map<std::string, std::string>{{"mlx5_0", "before"}}));
  EXPECT_EQ(Paused(), Held());
  EXPECT_EQ(Metric("nicmon_holds_durable"), "0");
  EXPECT_EQ(Status(Ask("POST", Port(1) + "/requery")), 200) << "monitoring goes on";
  const rlimit room{RLIM_INFINITY, RLIM_INFINITY};
  ASSERT_EQ(::prlimit(child_->pid(), RLIMIT_FSIZE, &room, nullptr), 0);
  EXPECT_EQ(Status(Ask("POST", Port(1) + "/pause", "reason=after")), 200);
  EXPECT_TRUE(WaitFor([&] { return Metric("nicmon_holds_durable") == "1"; }));
  Kill();
  Start();
  EXPECT_EQ(Held(),
            (std::map<std::string, std::string>{{"mlx5_0", "before"}, {"mlx5_1", "after"}}));
  Stop();
}

/// A small file system of its own in the place of the state directory.
class Disk {
 public:
  explicit Disk(std::string path)
      : path_(std::move(path)),
        mounted_(::mount("nicmon-test", path_.c_str(), "tmpfs", 0, "size=1m") == 0) {}
  ~Disk() {
    if (mounted_) {
      ::umount2(path_.c_str(), MNT_DETACH);
    }
  }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  bool mounted() const { return mounted_; }
  bool SetReadOnly(bool read_only) const {
    return ::mount("", path_.c_str(), "", MS_REMOUNT | (read_only ? MS_RDONLY : 0), "") == 0;
  }

 private:
  const std::string path_;
  const bool mounted_;
};

TEST_F(HoldsProcess, ABrokenFileOnAReadOnlyDiskIsKeptBeforeItIsReplaced) {
  tree_.Directory("state");
  const Disk disk(StateDir());
  if (!disk.mounted()) {
    GTEST_SKIP() << "no right to mount";
  }
  tree_.File("state/holds.json", "broken");
  ASSERT_TRUE(disk.SetReadOnly(true));
  Start();
  EXPECT_EQ(Metric("nicmon_holds_lost"), "1");
  ASSERT_TRUE(WaitFor([&] { return AllKnown(); }));
  ASSERT_TRUE(disk.SetReadOnly(false));
  EXPECT_EQ(Status(Ask("POST", Port(1) + "/pause", "reason=x")), 200);
  Kill();
  bool kept = false;
  for (const auto& entry : std::filesystem::directory_iterator(StateDir())) {
    kept = kept || entry.path().filename().string().starts_with("holds.json.broken-");
  }
  EXPECT_TRUE(kept);
}

TEST_F(HoldsProcess, AReadOnlyDiskKeepsWhatItHas) {
  tree_.Directory("state");
  const Disk disk(StateDir());
  if (!disk.mounted()) {
    GTEST_SKIP() << "no right to mount";
  }
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllKnown(); }));
  ASSERT_EQ(Status(Ask("POST", Port(0) + "/pause", "reason=before")), 200);
  Stop();
  ASSERT_TRUE(disk.SetReadOnly(true));
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllKnown(); }));
  EXPECT_EQ(Paused(), (std::map<std::string, std::string>{{"mlx5_0", "before"}}));
  EXPECT_TRUE(WaitFor([&] { return Metric("nicmon_holds_durable") == "0"; }));
  const std::string refused = Ask("POST", Port(1) + "/pause", "reason=x");
  EXPECT_EQ(Status(refused), 503);
  EXPECT_THAT(refused, HasSubstr("EROFS"));
  ASSERT_TRUE(disk.SetReadOnly(false));
  EXPECT_TRUE(WaitFor([&] { return Metric("nicmon_holds_durable") == "1"; }));
  EXPECT_EQ(Status(Ask("POST", Port(1) + "/pause", "reason=x")), 200);
  Kill();
}

TEST_F(HoldsProcess, ARequiredPortOfAMissingDeviceIsExpectedUntilItIsForgotten) {
  tree_.File("state/holds.json", R"({"devices":[{"name":"gone0","node_guid":"1:2:3:4","ports":[
      {"port":1,"required":true}]},{"name":"out0","node_guid":"1:2:3:5","ports":[
      {"port":1,"required":true}]}]})");
  Start({"--expect-ports=auto", "--device-exclude=out.*"});
  ASSERT_TRUE(WaitFor([&] { return Get("/readyz").value("ports_up", 0) == kDevices; }));
  EXPECT_EQ(Status(Ask("GET", "/readyz")), 503);
  EXPECT_EQ(Get("/readyz")["ports_expected"], kDevices + 1) << "what is left out is not missed";
  EXPECT_EQ(Status(Ask("POST", "/api/v1/ports/gone0/2/forget")), 404);
  EXPECT_EQ(Status(Ask("POST", "/api/v1/ports/gone0/1/forget")), 200);
  EXPECT_EQ(Status(Ask("POST", "/api/v1/ports/gone0/1/forget")), 404);
  EXPECT_EQ(Status(Ask("GET", "/readyz")), 200);
  Stop();
}

TEST_F(HoldsProcess, ASecondOneOnTheSameDirectoryEndsWithOneLine) {
  Start();
  Child second({NICMON_PROGRAM, "--simulate", "--simulate-force", "--listen=127.0.0.1:0",
                "--admin-socket=none", "--state-dir=" + StateDir()});
  EXPECT_EQ(second.Wait(kLong), 1);
  EXPECT_THAT(second.Output(), HasSubstr("another nicmon uses the state directory " + StateDir()));
  Kill();
  Start();  // the lock went with its holder
  Stop();
}

TEST_F(HoldsProcess, ABrokenFileIsLoudAndDoesNotKeepItFromStarting) {
  tree_.File("state/holds.json", "{\"devices\":[");
  Start();
  EXPECT_TRUE(child_->WaitForOutput("ERROR holds are lost"));
  EXPECT_EQ(Metric("nicmon_holds_lost"), "1");
  ASSERT_TRUE(WaitFor([&] { return AllKnown(); }));
  EXPECT_EQ(Status(Ask("POST", Port(1) + "/pause", "reason=again")), 200);
  Kill();
  Start();
  EXPECT_EQ(Held().size(), 1U);
  const Json page = Get("/api/v1/holds");
  EXPECT_EQ(page["holds"][0]["node_guid"], "0c42:a103:0065:0100");
  EXPECT_EQ(page["holds"][0]["pci_address"], "0000:02:00.0");
  EXPECT_EQ(page["durable"], true);
  EXPECT_EQ(page["lost"], true);
  EXPECT_EQ(Metric("nicmon_holds_lost"), "1");
  Stop();
}

}  // namespace
}  // namespace nicmon
