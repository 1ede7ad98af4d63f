#include "nicmon/device/loopback_probe.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "nicmon/base/errno_text.h"
#include "nicmon/verbs/drain.h"
#include "nicmon/verbs/wc_status.h"

namespace nicmon {
namespace {

using std::chrono::steady_clock;

/// More than the largest MTU's half and less than a page: some networks take several packets.
constexpr size_t kBytes = 2048;
constexpr uint32_t kEventBudget = 1024;

// Of an RC queue pair: an answer is waited for 4.096 µs × 2^14 = 67 ms (up to four times that, the
// standard says), three times more. A dead path is known in about a second.
constexpr uint8_t kTimeout = 14;
constexpr uint8_t kRetries = 3;
constexpr uint8_t kMinRnrTimer = 12;  // 0.64 ms
constexpr uint8_t kHopLimit = 64;

/// What ends a probe.
struct Fault {
  std::string error;
  std::string hint;
};
using Outcome = std::optional<Fault>;

Fault Refused(const char* verb, int error, std::string hint = "") {
  return {std::string(verb) + ": " + ErrnoText(error), std::move(hint)};
}

/// A page of our own: what is sent in one half, what arrives in the other.
struct alignas(4096) Page {
  uint8_t sent[kBytes];
  uint8_t arrived[kBytes];
};

bool MeansMemlock(int error) {
  return error == ENOMEM || error == EPERM || error == EAGAIN;
}

Fault BadCompletion(int status) {
  Fault fault{"the RDMA WRITE ended with " + WcStatusName(status), ""};
  if (status == IBV_WC_RETRY_EXC_ERR) {
    fault.hint =
        "the port did not answer itself: look at its GID and netdev (address, VLAN, firewall), "
        "then at "
        "the kernel's log";
  }
  return fault;
}

/// Tells one probe's request from another's on the same queue.
uint64_t NextRequest() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

/// One probe. The members are released in reverse: the queue pair before the memory that it uses.
class Loopback {
 public:
  Loopback(std::shared_ptr<const VerbsApi> api, DeviceContext& context, Epoll& epoll, uint32_t port,
           const GidNetdev& netdev, Duration patience)
      : api_(std::move(api)),
        context_(context),
        epoll_(epoll),
        port_(port),
        netdev_(netdev),
        patience_(patience),
        page_(std::make_unique<Page>()) {}

  ProbeResult Run();

 private:
  Outcome QueryPort();
  Outcome ChoosePortGid();
  Outcome RegisterMemory();
  Outcome CreateQueuePair();
  Outcome Init();
  Outcome ReadyToReceive();
  Outcome ReadyToSend();
  Outcome Write();
  Outcome Compare();

  Outcome Modify(ibv_qp_attr attributes, int mask, const char* to);
  Outcome Post();
  Outcome AwaitCompletion();
  /// Takes what has come besides the completion.
  Outcome TakeEvents(std::span<const Epoll::Ready> ready);
  void Note(const AsyncEvent& event);
  bool ethernet() const { return attributes_.link_layer == IBV_LINK_LAYER_ETHERNET; }

  const std::shared_ptr<const VerbsApi> api_;
  DeviceContext& context_;
  Epoll& epoll_;
  const uint32_t port_;
  const GidNetdev& netdev_;
  const Duration patience_;
  const uint64_t request_ = NextRequest();
  ProbeResult result_;
  PortAttributes attributes_;
  const std::unique_ptr<Page> page_;
  MrHandle memory_;
  QpHandle qp_;
};

ProbeResult Loopback::Run() {
  struct Step {
    ProbeStep step;
    Outcome (Loopback::*run)();
  };
  static constexpr Step kSteps[] = {
      {ProbeStep::kQueryPort, &Loopback::QueryPort},
      {ProbeStep::kGid, &Loopback::ChoosePortGid},
      {ProbeStep::kRegisterMemory, &Loopback::RegisterMemory},
      {ProbeStep::kCreateQp, &Loopback::CreateQueuePair},
      {ProbeStep::kInit, &Loopback::Init},
      {ProbeStep::kReadyToReceive, &Loopback::ReadyToReceive},
      {ProbeStep::kReadyToSend, &Loopback::ReadyToSend},
      {ProbeStep::kWrite, &Loopback::Write},
      {ProbeStep::kCompare, &Loopback::Compare},
  };
  for (const Step& step : kSteps) {
    if (step.step == ProbeStep::kGid && !ethernet()) {
      continue;  // addressed by its LID
    }
    const auto start = steady_clock::now();
    Outcome fault = (this->*step.run)();
    const Duration took = steady_clock::now() - start;
    result_.steps.push_back({step.step, took});
    result_.total += took;
    if (fault) {
      result_.failed = step.step;
      result_.error = std::move(fault->error);
      result_.hint = std::move(fault->hint);
      break;
    }
  }
  return std::move(result_);
}

Outcome Loopback::QueryPort() {
  if (const int error = api_->query_port(context_.context(), port_, &attributes_)) {
    return Refused("query_port", error);
  }
  if (attributes_.state != IBV_PORT_ACTIVE) {
    return Fault{"the port is not active but " + std::string(PortStateName(attributes_.state)),
                 "nothing can be sent until it is"};
  }
  return {};
}

Outcome Loopback::ChoosePortGid() {
  const GidTable table = ReadGidTable(
      *api_, context_.context(), port_,
      static_cast<uint32_t>(std::max(attributes_.gid_table_length, 0)), context_.port_count());
  GidChoice choice = ChooseGid(table, netdev_);
  if (!choice.gid) {
    return Fault{choice.Note(),
                 "RoCE needs a GID: give the port's netdev an address and set it up"};
  }
  if (choice.gid->index > UINT8_MAX) {
    return Fault{"GID index " + std::to_string(choice.gid->index) +
                     " is beyond what a queue pair can be told (255)",
                 "remove addresses that the netdev does not need"};
  }
  result_.gid = std::move(choice.gid);
  return {};
}

Outcome Loopback::RegisterMemory() {
  for (size_t i = 0; i < kBytes; ++i) {
    page_->sent[i] = static_cast<uint8_t>(i * 7 + 1);
    page_->arrived[i] = static_cast<uint8_t>(~page_->sent[i]);
  }
  int error = 0;
  memory_ = RegisterMr(api_, context_.pd(), page_.get(), sizeof(Page),
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE, &error);
  if (!memory_) {
    return Refused("reg_mr", error, MeansMemlock(error) ? MemlockHint() : "");
  }
  return {};
}

Outcome Loopback::CreateQueuePair() {
  if (context_.context()->device->transport_type == IBV_TRANSPORT_IWARP) {
    return Fault{"an iWARP queue pair cannot be connected to itself",
                 "a probe needs InfiniBand or RoCE"};
  }
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = context_.data_cq(0);
  attributes.cap.max_send_wr = attributes.cap.max_recv_wr = 1;
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  attributes.qp_type = IBV_QPT_RC;
  int error = 0;
  qp_ = CreateQp(api_, context_.pd(), attributes, &error);
  if (qp_) {
    return {};
  }
  return Refused("create_qp", error,
                 error == EOPNOTSUPP || error == ENOSYS
                     ? "the device has no reliable connections (as EFA has none), a probe needs one"
                 : MeansMemlock(error) ? MemlockHint()
                                       : "");
}

Outcome Loopback::Modify(ibv_qp_attr attributes, int mask, const char* to) {
  if (const int error = api_->modify_qp(qp_.get(), &attributes, mask | IBV_QP_STATE)) {
    return Fault{std::string("modify_qp to ") + to + ": " + ErrnoText(error), ""};
  }
  return {};
}

Outcome Loopback::Init() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = static_cast<uint8_t>(port_);
  attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  return Modify(attributes, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
}

Outcome Loopback::ReadyToReceive() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = static_cast<ibv_mtu>(attributes_.active_mtu);
  attributes.dest_qp_num = qp_->qp_num;
  attributes.max_dest_rd_atomic = 1;
  attributes.min_rnr_timer = kMinRnrTimer;
  attributes.ah_attr.port_num = static_cast<uint8_t>(port_);
  attributes.ah_attr.dlid = static_cast<uint16_t>(attributes_.lid);
  if (result_.gid) {
    attributes.ah_attr.is_global = 1;
    std::memcpy(attributes.ah_attr.grh.dgid.raw, result_.gid->bytes.data(),
                result_.gid->bytes.size());
    attributes.ah_attr.grh.sgid_index = static_cast<uint8_t>(result_.gid->index);
    attributes.ah_attr.grh.hop_limit = kHopLimit;
  }
  return Modify(attributes,
                IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                "RTR");
}

Outcome Loopback::ReadyToSend() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = kTimeout;
  attributes.retry_cnt = kRetries;
  attributes.rnr_retry = kRetries;
  attributes.max_rd_atomic = 1;
  return Modify(attributes,
                IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                    IBV_QP_MAX_QP_RD_ATOMIC,
                "RTS");
}

Outcome Loopback::Write() {
  if (const int error = api_->req_notify_cq(context_.data_cq(0))) {
    return Refused("req_notify_cq", error);
  }
  if (Outcome fault = Post()) {
    return fault;
  }
  return AwaitCompletion();
}

Outcome Loopback::Post() {
  ibv_sge from{};
  from.addr = reinterpret_cast<uint64_t>(page_->sent);
  from.length = kBytes;
  from.lkey = memory_->lkey;
  ibv_send_wr request{};
  request.sg_list = &from;
  request.num_sge = 1;
  request.wr_id = request_;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = reinterpret_cast<uint64_t>(page_->arrived);
  request.wr.rdma.rkey = memory_->rkey;
  if (const int error = api_->post_send(qp_.get(), &request)) {
    return Refused("post_send", error);
  }
  return {};
}

Outcome Loopback::AwaitCompletion() {
  const auto deadline = steady_clock::now() + patience_;
  for (;;) {
    ibv_wc completion{};
    const int error = api_->poll_cq(context_.data_cq(0), &completion);
    if (error == 0 && completion.wr_id != request_) {
      continue;  // of an earlier probe, which had given up on it; the queue outlives its queue pair
    }
    if (error == 0) {
      return completion.status == IBV_WC_SUCCESS ? Outcome() : BadCompletion(completion.status);
    }
    if (error != EAGAIN) {
      return Refused("poll_cq", error);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) {
      return Fault{
          "no completion of the RDMA WRITE within " +
              std::to_string(std::chrono::ceil<std::chrono::milliseconds>(patience_).count()) +
              " ms",
          "neither an answer nor the end of the retries was reported: look at the kernel's "
          "log for this device"};
    }
    if (Outcome fault = TakeEvents(epoll_.Wait(static_cast<int>(left.count())))) {
      return fault;
    }
  }
}

void Loopback::Note(const AsyncEvent& event) {
  const EventType* type = FindEventType(event.type);
  if (type != nullptr && type->scope != EventScope::kPort) {
    result_.events.emplace_back(type->name);
  }
}

Outcome Loopback::TakeEvents(std::span<const Epoll::Ready> ready) {
  for (const Epoll::Ready& each : ready) {
    if (each.id == context_.channel_watch(0)) {
      while (api_->get_cq_event(context_.channel(0)) == 0) {
      }
      // Armed before the next look at the queue: nothing falls between.
      if (const int error = api_->req_notify_cq(context_.data_cq(0))) {
        return Refused("req_notify_cq", error);
      }
    } else if (each.id == context_.async_watch()) {
      DrainResult drained;
      do {
        drained = DrainEvents(*api_, context_.context(), kEventBudget,
                              [this](const AsyncEvent& event) { Note(event); });
      } while (drained.more);
      if (drained.device_fatal) {
        return Fault{"DEVICE_FATAL came while the probe waited", ""};
      }
      if (drained.error != 0) {
        return Refused("get_async_event", drained.error);
      }
    }
  }
  return {};
}

Outcome Loopback::Compare() {
  for (size_t i = 0; i < kBytes; ++i) {
    if (page_->sent[i] != page_->arrived[i]) {
      return Fault{"byte " + std::to_string(i) + " of " + std::to_string(kBytes) +
                       " arrived as another, though the transfer was reported as complete",
                   "data on this port is not safe: pause it and have the card looked at"};
    }
  }
  return {};
}

}  // namespace

ProbeResult ProbeLoopback(DataPath& path, uint32_t port, const GidNetdev& netdev,
                          Duration patience) {
  return Loopback(path.api_, path.context_, path.epoll_, port, netdev, patience).Run();
}

}  // namespace nicmon
