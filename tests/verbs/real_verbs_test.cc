#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "nicmon/verbs/handles.h"
#include "nicmon/verbs/query_port.h"
#include "nicmon/verbs/verbs_api.h"

namespace nicmon {
namespace {

// Runs wherever the tests run: with a library or without, with RDMA devices or without.
TEST(RealVerbsTest, AnswersWithAListOrSaysThatThereIsNoRdma) {
  std::string why;
  const auto verbs = RealVerbs(&why);
  ASSERT_NE(verbs, nullptr);
  EXPECT_EQ(why.empty(), !verbs->library_version.empty());
  int error = 0;
  const DeviceList list = DeviceList::Get(verbs, &error);
  if (list) {
    for (ibv_device* device : list.devices()) {
      EXPECT_FALSE(verbs->get_device_name(device).empty());
    }
  } else {
    EXPECT_EQ(error, ENOSYS);
  }
}

TEST(RealVerbsTest, FillsTheWholeTableWhereTheLibraryIs) {
  std::string why;
  const auto verbs = RealVerbs(&why);
  if (!why.empty()) {
    GTEST_SKIP() << why;
  }
  EXPECT_TRUE(verbs->get_device_index && verbs->get_device_guid && verbs->open_device &&
              verbs->close_device && verbs->query_device && verbs->query_port && verbs->query_gid &&
              verbs->query_gid_table && verbs->get_async_event && verbs->ack_async_event &&
              verbs->alloc_pd && verbs->dealloc_pd && verbs->create_comp_channel &&
              verbs->destroy_comp_channel && verbs->create_cq && verbs->destroy_cq &&
              verbs->reg_mr && verbs->dereg_mr && verbs->create_qp && verbs->destroy_qp &&
              verbs->modify_qp && verbs->post_send && verbs->req_notify_cq && verbs->get_cq_event &&
              verbs->poll_cq);
  // The speed verb came with rdma-core 62; a version that is not known says nothing.
  const double version = std::atof(verbs->library_version.c_str());
  if (version > 0) {
    EXPECT_EQ(static_cast<bool>(verbs->query_port_speed), version >= 62);
  }
}

TEST(RealVerbsTest, MissingDeviceNodeIsToldAtOnce) {
  std::string why;
  const auto verbs = RealVerbs(&why);
  if (!why.empty()) {
    GTEST_SKIP() << why;
  }
  ibv_device device{};
  std::strcpy(device.name, "nowhere");
  std::strcpy(device.dev_name, "uverbs-nowhere");
  EXPECT_EQ(verbs->open_device(&device), nullptr);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(verbs->get_device_name(&device), "nowhere");
}

TEST(LibraryVersionTest, IsTheTailOfTheFileName) {
  EXPECT_EQ(LibraryVersion("/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0"), "44.0");
  EXPECT_EQ(LibraryVersion("libibverbs.so.1.16.62.0"), "62.0");
  EXPECT_EQ(LibraryVersion("/opt/libibverbs.so.1"), "unknown");
  EXPECT_EQ(LibraryVersion("/opt/libibverbs.so.1.14"), "unknown");
  EXPECT_EQ(LibraryVersion("/opt/libibverbs.so.1.14."), "unknown");
  EXPECT_EQ(LibraryVersion("/opt/libibverbs.so.1.x.y"), "unknown");
  EXPECT_EQ(LibraryVersion(""), "unknown");
}

TEST(EvenOutTest, MakesEveryConventionAPositiveErrno) {
  errno = 0;
  EXPECT_EQ(EvenOut(0), 0);
  EXPECT_EQ(EvenOut(EIO), EIO);
  EXPECT_EQ(EvenOut(-ENODEV), ENODEV);
  EXPECT_EQ(EvenOut(-1), EIO);
  errno = EAGAIN;
  EXPECT_EQ(EvenOut(-1), EAGAIN);
}

}  // namespace
}  // namespace nicmon
