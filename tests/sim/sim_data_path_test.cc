#include <cerrno>

#include "sim/sim_testing.h"

// Queue pairs that are connected to themselves, and what comes of an RDMA WRITE.
namespace nicmon {
namespace {

class SimDataPathTest : public SimTest {
 protected:
  SimDataPathTest() {
    int error = 0;
    context_ = Open("mlx5_0");
    pd_ = AllocPd(verbs_, context_.get(), &error);
    channel_ = CreateChannel(verbs_, context_.get(), &error);
    cq_ = CreateCq(verbs_, context_.get(), 16, channel_.get(), 0, &error);
    mr_ = RegisterMr(verbs_, pd_.get(), memory_, sizeof(memory_), 0, &error);
    ibv_qp_init_attr attributes{};
    attributes.qp_type = IBV_QPT_RC;
    attributes.send_cq = attributes.recv_cq = cq_.get();
    qp_ = CreateQp(verbs_, pd_.get(), attributes, &error);
  }

  int Modify(ibv_qp_state state, uint8_t port = 1) {
    ibv_qp_attr attributes{};
    attributes.qp_state = state;
    attributes.port_num = attributes.ah_attr.port_num = port;
    attributes.dest_qp_num = qp_->qp_num;
    return verbs_->modify_qp(qp_.get(), &attributes, IBV_QP_STATE);
  }
  void Connect() {
    ASSERT_EQ(Modify(IBV_QPS_INIT), 0);
    ASSERT_EQ(Modify(IBV_QPS_RTR), 0);
    ASSERT_EQ(Modify(IBV_QPS_RTS), 0);
  }
  /// From the first half of the memory to the second, or beyond it by `over`.
  int Post(uint64_t over = 0, uint32_t lkey = 0) {
    ibv_sge from{};
    from.addr = reinterpret_cast<uint64_t>(memory_);
    from.length = sizeof(memory_) / 2;
    from.lkey = lkey != 0 ? lkey : mr_->lkey;
    ibv_send_wr request{};
    request.sg_list = &from;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.wr.rdma.remote_addr = from.addr + from.length + over;
    request.wr.rdma.rkey = mr_->rkey;
    return verbs_->post_send(qp_.get(), &request);
  }
  ibv_wc_status Completion() {
    ibv_wc completion{};
    EXPECT_EQ(verbs_->poll_cq(cq_.get(), &completion), 0);
    return completion.status;
  }

  char memory_[64] = "some bytes";
  ContextHandle context_;
  PdHandle pd_;
  ChannelHandle channel_;
  CqHandle cq_;
  MrHandle mr_;
  QpHandle qp_;
};

TEST_F(SimDataPathTest, StatesFollowOneAnother) {
  EXPECT_EQ(Modify(IBV_QPS_RTR), EINVAL);
  EXPECT_EQ(Modify(IBV_QPS_INIT, 9), EINVAL);
  EXPECT_EQ(Post(), EINVAL);
  EXPECT_EQ(Modify(IBV_QPS_INIT), 0);
  EXPECT_EQ(Modify(IBV_QPS_RTS), EINVAL);
  EXPECT_EQ(Modify(IBV_QPS_RTR), 0);
  EXPECT_EQ(Post(), EINVAL);
  EXPECT_EQ(Modify(IBV_QPS_RTS), 0);
  EXPECT_EQ(Post(), 0);
}

TEST_F(SimDataPathTest, MovesBytesAndNotifiesOnceWhenArmed) {
  Connect();
  ASSERT_EQ(verbs_->req_notify_cq(cq_.get()), 0);
  ibv_wc none{};
  EXPECT_EQ(verbs_->poll_cq(cq_.get(), &none), EAGAIN);
  ASSERT_EQ(Post(), 0);
  EXPECT_EQ(Completion(), IBV_WC_SUCCESS);
  EXPECT_STREQ(memory_ + sizeof(memory_) / 2, "some bytes");
  EXPECT_EQ(verbs_->get_cq_event(channel_.get()), 0);
  ASSERT_EQ(Post(), 0);  // not armed again
  ASSERT_EQ(::fcntl(channel_->fd, F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(verbs_->get_cq_event(channel_.get()), EAGAIN);
}

TEST_F(SimDataPathTest, WhatIsWrongShowsInTheCompletion) {
  Connect();
  ASSERT_EQ(Post(1), 0);
  EXPECT_EQ(Completion(), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(Post(), EINVAL);  // in the error state
}

TEST_F(SimDataPathTest, AnUnknownKeyIsAProtectionError) {
  Connect();
  ASSERT_EQ(Post(0, 0xffff), 0);
  EXPECT_EQ(Completion(), IBV_WC_LOC_PROT_ERR);
}

}  // namespace
}  // namespace nicmon
