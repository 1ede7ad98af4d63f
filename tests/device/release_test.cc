#include <cerrno>
#include <optional>
#include <vector>

#include "device/device_context_fixture.h"

namespace nicmon {
namespace {

using ::testing::ElementsAre;

/// Records what is released, in order, and may refuse.
class ReleaseTest : public DeviceContextTest {
 protected:
  void Record(int error) {
    VerbsApi& api = Wrap();
    const auto note = [this, error](const std::string& what, int result) {
      released_.push_back(what);
      return error != 0 ? error : result;
    };
    api.destroy_cq = [=, real = api.destroy_cq](ibv_cq* cq) { return note("cq", real(cq)); };
    api.destroy_comp_channel = [=, real = api.destroy_comp_channel](ibv_comp_channel* channel) {
      return note("channel", real(channel));
    };
    api.dealloc_pd = [=, real = api.dealloc_pd](ibv_pd* pd) { return note("pd", real(pd)); };
    api.close_device = [=, real = api.close_device](ibv_context* context) {
      return note("context", real(context));
    };
  }
  std::vector<std::string> released_;
};

TEST_F(ReleaseTest, InReverse) {
  Record(0);
  Acquire(Strict());
  EXPECT_THAT(released_,
              ElementsAre("cq", "cq", "cq", "cq", "channel", "channel", "pd", "context"));
}

TEST_F(ReleaseTest, AFailingReleaseStopsNoOther) {
  Record(EBUSY);
  Acquire(Strict());
  EXPECT_EQ(released_.size(), 8U);
  EXPECT_EQ(sim_.Held(), SimHeld{});
}

TEST_F(ReleaseTest, OnFailureOnlyWhatWasAcquired) {
  Record(0);
  FailVerb("create_cq", ENOMEM, 1);
  EXPECT_THROW(Acquire(Strict()), AcquireError);
  EXPECT_THAT(released_, ElementsAre("cq", "channel", "channel", "pd", "context"));
}

TEST_F(ReleaseTest, TwiceIsHarmless) {
  Record(0);
  std::optional<DeviceContext> slot;
  slot.emplace(api_, epoll_, Watching());
  slot.reset();
  slot.reset();
  EXPECT_THAT(released_, ElementsAre("context"));
}

TEST_F(ReleaseTest, LastInFirstOut) {
  VerbsApi& api = Wrap();
  std::vector<ibv_cq*> made;
  std::vector<ibv_cq*> destroyed;
  api.create_cq = [&, real = api.create_cq](ibv_context* context, int cqe,
                                            ibv_comp_channel* channel, int vector) {
    return made.emplace_back(real(context, cqe, channel, vector));
  };
  api.destroy_cq = [&, real = api.destroy_cq](ibv_cq* cq) {
    destroyed.push_back(cq);
    return real(cq);
  };
  Acquire(Strict());
  EXPECT_EQ(destroyed, std::vector<ibv_cq*>(made.rbegin(), made.rend()));
}

}  // namespace
}  // namespace nicmon
