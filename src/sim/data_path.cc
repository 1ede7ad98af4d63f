#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "calls.h"

// Memory regions, queue pairs and what goes through them: RC queue pairs that are connected to
// themselves, and RDMA WRITE.
namespace nicmon::sim {
namespace {

bool Within(const ibv_mr& region, uint64_t address, size_t length) {
  const auto begin = reinterpret_cast<uint64_t>(region.addr);
  return address >= begin && length <= region.length && address - begin <= region.length - length;
}

template <typename Matches>
const Mr* FindRegion(const Node& node, Matches matches) {
  const auto found = std::find_if(node.mrs.begin(), node.mrs.end(),
                                  [&](const auto& each) { return matches(*each.second); });
  return found == node.mrs.end() ? nullptr : found->second.get();
}

// Moves the bytes of a request, as the hardware would; what the completion says.
ibv_wc_status Transfer(const Node& node, const Qp& qp, const ibv_send_wr& request) {
  const Device& device = *qp.registration->device;
  const ibv_sge& from = request.sg_list[0];
  const auto& to = request.wr.rdma;
  const Mr* source = FindRegion(node, [&](const Mr& mr) { return mr.lkey == from.lkey; });
  if (source == nullptr || source->pd != qp.pd || !Within(*source, from.addr, from.length)) {
    return IBV_WC_LOC_PROT_ERR;
  }
  const bool active = device.ports[qp.port - 1].attributes.state == IBV_PORT_ACTIVE;
  if (!active || qp.destination != qp.qp_num) {
    return IBV_WC_RETRY_EXC_ERR;
  }
  const Mr* target = FindRegion(node, [&](const Mr& mr) { return mr.rkey == to.rkey; });
  if (target == nullptr || target->pd != qp.pd || !Within(*target, to.remote_addr, from.length)) {
    return IBV_WC_REM_ACCESS_ERR;
  }
  auto* bytes = reinterpret_cast<uint8_t*>(to.remote_addr);
  std::memmove(bytes, reinterpret_cast<const void*>(from.addr), from.length);
  if (device.loopback == SimLoopback::kCorrupts && from.length > 0) {
    bytes[from.length / 2] ^= 1;
  }
  return IBV_WC_SUCCESS;
}

// One token of the channel's fd is one notification.
void Notify(Cq& cq) {
  if (cq.armed && cq.channel != nullptr) {
    const uint64_t token = 1;
    [[maybe_unused]] const ssize_t written = ::write(cq.channel->fd, &token, sizeof(token));
  }
  cq.armed = false;
}

// The state of an attribute mask's transition, or EINVAL for one that does not exist.
int Transition(Qp& qp, const ibv_qp_attr& attributes) {
  const size_t ports = qp.registration->device->ports.size();
  switch (attributes.qp_state) {
    case IBV_QPS_INIT:
      if (qp.state != IBV_QPS_RESET || attributes.port_num < 1 || attributes.port_num > ports) {
        return EINVAL;
      }
      qp.port = attributes.port_num;
      break;
    case IBV_QPS_RTR:
      if (qp.state != IBV_QPS_INIT || attributes.ah_attr.port_num != qp.port) {
        return EINVAL;
      }
      qp.destination = attributes.dest_qp_num;
      break;
    case IBV_QPS_RTS:
      if (qp.state != IBV_QPS_RTR) {
        return EINVAL;
      }
      break;
    case IBV_QPS_ERR:
      break;
    default:
      return EINVAL;
  }
  qp.state = attributes.qp_state;
  return 0;
}

}  // namespace

ibv_mr* RegMr(Node& node, ibv_pd* pd, void* address, size_t length, int /*access*/) {
  const std::shared_ptr<Registration>& registration = static_cast<Pd*>(pd)->registration;
  Lock lock;
  if (const int error = Begin(node, lock, *registration, Verb::kRegMr)) {
    return Failed<ibv_mr>(error);
  }
  auto mr = std::make_unique<Mr>();
  mr->context = pd->context;
  mr->pd = pd;
  mr->addr = address;
  mr->length = length;
  mr->lkey = node.next_key++;
  mr->rkey = node.next_key++;
  mr->registration = registration;
  ibv_mr* result = mr.get();
  node.mrs.emplace(result, std::move(mr));
  return result;
}

int DeregMr(Node& node, ibv_mr* mr) {
  return Destroy(node, node.mrs, mr, Verb::kDeregMr, [] { return false; });
}

ibv_qp* CreateQp(Node& node, ibv_pd* pd, ibv_qp_init_attr* attributes) {
  const std::shared_ptr<Registration>& registration = static_cast<Pd*>(pd)->registration;
  Lock lock;
  if (const int error = Begin(node, lock, *registration, Verb::kCreateQp)) {
    return Failed<ibv_qp>(error);
  }
  if (attributes->qp_type != IBV_QPT_RC || attributes->send_cq == nullptr) {
    return Failed<ibv_qp>(EOPNOTSUPP);
  }
  auto qp = std::make_unique<Qp>();
  qp->context = pd->context;
  qp->pd = pd;
  qp->send_cq = attributes->send_cq;
  qp->recv_cq = attributes->recv_cq;
  qp->qp_num = node.next_key++;
  qp->qp_type = attributes->qp_type;
  qp->state = IBV_QPS_RESET;
  qp->registration = registration;
  ibv_qp* result = qp.get();
  node.qps.emplace(result, std::move(qp));
  return result;
}

int DestroyQp(Node& node, ibv_qp* qp) {
  return Destroy(node, node.qps, qp, Verb::kDestroyQp, [] { return false; });
}

int ModifyQp(Node& node, ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  Qp& ours = *static_cast<Qp*>(qp);
  Lock lock;
  if (const int error = Begin(node, lock, *ours.registration, Verb::kModifyQp)) {
    return error;
  }
  return (mask & IBV_QP_STATE) != 0 ? Transition(ours, *attributes) : EINVAL;
}

int PostSend(Node& node, ibv_qp* qp, const ibv_send_wr& request) {
  Qp& ours = *static_cast<Qp*>(qp);
  Lock lock;
  if (const int error = Begin(node, lock, *ours.registration, Verb::kPostSend)) {
    return error;
  }
  const bool known = request.opcode == IBV_WR_RDMA_WRITE && request.num_sge == 1;
  if (ours.state != IBV_QPS_RTS || !known || request.next != nullptr) {
    return EINVAL;
  }
  if (ours.registration->device->loopback == SimLoopback::kSwallows) {
    return 0;
  }
  ibv_wc completion{};
  completion.wr_id = request.wr_id;
  completion.qp_num = ours.qp_num;
  completion.opcode = IBV_WC_RDMA_WRITE;
  completion.status = Transfer(node, ours, request);
  if (completion.status != IBV_WC_SUCCESS) {
    ours.state = IBV_QPS_ERR;
  }
  Cq& cq = *static_cast<Cq*>(ours.send_cq);
  cq.completions.push_back(completion);
  Notify(cq);
  return 0;
}

int ReqNotifyCq(Node& node, ibv_cq* cq) {
  Cq& ours = *static_cast<Cq*>(cq);
  Lock lock;
  const int error = Begin(node, lock, *ours.registration, Verb::kReqNotifyCq);
  ours.armed = ours.armed || error == 0;
  return error;
}

int GetCqEvent(Node& node, ibv_comp_channel* channel) {
  Lock lock;
  if (const int error =
          Begin(node, lock, *static_cast<Channel*>(channel)->registration, Verb::kGetCqEvent)) {
    return error;
  }
  lock.unlock();  // the fd may block
  uint64_t token = 0;
  return ::read(channel->fd, &token, sizeof(token)) == sizeof(token) ? 0 : errno;
}

int PollCq(Node& node, ibv_cq* cq, ibv_wc* out) {
  Cq& ours = *static_cast<Cq*>(cq);
  Lock lock;
  if (const int error = Begin(node, lock, *ours.registration, Verb::kPollCq)) {
    return error;
  }
  if (ours.completions.empty()) {
    return EAGAIN;
  }
  *out = ours.completions.front();
  ours.completions.pop_front();
  return 0;
}

}  // namespace nicmon::sim
