#include "nicmon/verbs/query_port.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nicmon {
namespace {

// A provider behind a context, of a library of any age: it knows `known` bytes of the structure.
struct Provider {
  size_t known = 0;
  size_t length = 0;  // that the caller gave
  int port = 0;
  int result = 0;
  int calls = 0;
  int legacy_calls = 0;
};
Provider provider;

constexpr uint32_t kXdr = 256;

// What the hardware says, in the layout of rdma-core 50 and later.
void FillPort(unsigned char* bytes) {
  ibv_port_attr attributes{};
  attributes.state = IBV_PORT_ARMED;
  attributes.max_mtu = IBV_MTU_4096;
  attributes.active_mtu = IBV_MTU_1024;
  attributes.gid_tbl_len = 255;
  attributes.lid = 0x1234;
  attributes.sm_lid = 0xfffe;
  attributes.active_width = 2;
  attributes.active_speed = 128;
  attributes.phys_state = 5;
  attributes.link_layer = IBV_LINK_LAYER_INFINIBAND;
  std::memcpy(bytes, &attributes, 52);
  std::memcpy(bytes + 52, &kXdr, sizeof(kXdr));
}

// As libibverbs does it: its own full structure, of which the caller gets as much as both know.
int AnswerQuery(ibv_context*, uint8_t port, ibv_port_attr* out, size_t length) {
  ++provider.calls;
  provider.port = port;
  provider.length = length;
  if (provider.result != 0) {
    return provider.result;
  }
  unsigned char full[56];
  FillPort(full);
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  std::memset(bytes, 0, length);
  std::memcpy(bytes, full, std::min(length, provider.known));
  return 0;
}

int AnswerLegacy(ibv_context*, uint8_t port, void* out) {
  ++provider.legacy_calls;
  provider.port = port;
  if (provider.result != 0) {
    return provider.result;
  }
  unsigned char full[56];
  FillPort(full);
  std::memcpy(out, full, 48);
  return 0;
}

class QueryPortTest : public ::testing::Test {
 protected:
  QueryPortTest() {
    provider = {.known = 56};
    operations_.sz = sizeof(operations_);
    operations_.query_port = AnswerQuery;
    operations_.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  }

  int Query(uint32_t port) {
    return QueryPortAttributes(&operations_.context, port, AnswerLegacy, &out_);
  }

  verbs_context operations_{};
  PortAttributes out_;
};

TEST_F(QueryPortTest, LibraryThatKnowsTheLongSpeedCodeFillsIt) {
  ASSERT_EQ(Query(1), 0);
  EXPECT_GE(provider.length, 56u);
  EXPECT_EQ(out_.active_speed_ex, kXdr);
  EXPECT_EQ(out_.active_speed, 128u);
}

TEST_F(QueryPortTest, OlderLibraryLeavesItZero) {
  provider.known = 52;
  ASSERT_EQ(Query(1), 0);
  EXPECT_EQ(out_.active_speed_ex, 0u);
  EXPECT_EQ(out_.active_speed, 128u);
}

TEST_F(QueryPortTest, CopiesEveryFieldAsItIs) {
  ASSERT_EQ(Query(3), 0);
  EXPECT_EQ(provider.port, 3);
  EXPECT_EQ(out_.state, 3);
  EXPECT_EQ(out_.physical_state, 5);
  EXPECT_EQ(out_.active_width, 2u);
  EXPECT_EQ(out_.active_mtu, 3);
  EXPECT_EQ(out_.max_mtu, 5);
  EXPECT_EQ(out_.lid, 0x1234u);
  EXPECT_EQ(out_.sm_lid, 0xfffeu);
  EXPECT_EQ(out_.link_layer, IBV_LINK_LAYER_INFINIBAND);
  EXPECT_EQ(out_.gid_table_length, 255);
}

TEST_F(QueryPortTest, FailureLeavesTheResultUntouched) {
  provider.result = EIO;
  out_.state = 4;
  EXPECT_EQ(Query(1), EIO);
  EXPECT_EQ(out_.state, 4);
  provider.result = -ENODEV;
  EXPECT_EQ(Query(1), ENODEV);
}

TEST_F(QueryPortTest, ContextWithoutTheOperationIsAskedThroughTheExportedSymbol) {
  operations_.query_port = nullptr;
  ASSERT_EQ(Query(2), 0);
  EXPECT_EQ(provider.legacy_calls, 1);
  EXPECT_EQ(provider.port, 2);
  EXPECT_EQ(out_.state, 3);
  EXPECT_EQ(out_.active_speed_ex, 0u);
}

TEST_F(QueryPortTest, ContextOfAnOlderAbiIsAskedThroughTheExportedSymbol) {
  operations_.context.abi_compat = nullptr;
  ASSERT_EQ(Query(1), 0);
  EXPECT_EQ(provider.legacy_calls, 1);
  EXPECT_EQ(provider.calls, 0);

  operations_.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  operations_.sz = 64;  // of a library whose table ends before query_port
  ASSERT_EQ(Query(1), 0);
  EXPECT_EQ(provider.legacy_calls, 2);
}

TEST_F(QueryPortTest, PortNumberIsNeverTruncated) {
  EXPECT_EQ(Query(255), 0);
  EXPECT_EQ(Query(256), EINVAL);
  EXPECT_EQ(Query(257), EINVAL);
  EXPECT_EQ(Query(0), EINVAL);
  EXPECT_EQ(provider.calls, 1);
}

}  // namespace
}  // namespace nicmon
