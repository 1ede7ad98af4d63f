#include "nicmon/verbs/handles.h"

#include "nicmon/base/errno_text.h"
#include "nicmon/base/log.h"

namespace nicmon {
namespace {

void LogFailedRelease(std::string_view verb, int error) {
  if (error != 0) {
    log::Warning("release of a verbs object failed",
                 {{"verb", std::string(verb)}, {"error", ErrnoText(error)}});
  }
}

// The errno of a call that just gave `object`, with errno cleared before it: libibverbs leaves
// garbage in errno after successful calls, and does not always set it after failed ones.
template <typename T>
int ErrorOf(const T* object) {
  if (object != nullptr) {
    return 0;
  }
  return errno != 0 ? errno : EIO;
}

}  // namespace

void VerbsDeleter::operator()(ibv_device** list) const {
  verbs->free_device_list(list);
}

void VerbsDeleter::operator()(ibv_context* context) const {
  LogFailedRelease("close_device", verbs->close_device(context));
}

void VerbsDeleter::operator()(ibv_pd* pd) const {
  LogFailedRelease("dealloc_pd", verbs->dealloc_pd(pd));
}

void VerbsDeleter::operator()(ibv_comp_channel* channel) const {
  LogFailedRelease("destroy_comp_channel", verbs->destroy_comp_channel(channel));
}

void VerbsDeleter::operator()(ibv_cq* cq) const {
  LogFailedRelease("destroy_cq", verbs->destroy_cq(cq));
}

void VerbsDeleter::operator()(ibv_mr* mr) const {
  LogFailedRelease("dereg_mr", verbs->dereg_mr(mr));
}

void VerbsDeleter::operator()(ibv_qp* qp) const {
  LogFailedRelease("destroy_qp", verbs->destroy_qp(qp));
}

DeviceList DeviceList::Get(std::shared_ptr<const VerbsApi> verbs, int* error) {
  DeviceList result;
  int count = 0;
  errno = 0;
  ibv_device** list = verbs->get_device_list(&count);
  *error = ErrorOf(list);
  result.count_ = list != nullptr ? static_cast<size_t>(count) : 0;
  result.list_ = std::unique_ptr<ibv_device*, Deleter>(list, Deleter{{std::move(verbs)}});
  return result;
}

ContextHandle OpenDevice(std::shared_ptr<const VerbsApi> verbs, ibv_device* device, int* error) {
  errno = 0;
  ibv_context* context = verbs->open_device(device);
  *error = ErrorOf(context);
  return ContextHandle(context, VerbsDeleter{std::move(verbs)});
}

PdHandle AllocPd(std::shared_ptr<const VerbsApi> verbs, ibv_context* context, int* error) {
  errno = 0;
  ibv_pd* pd = verbs->alloc_pd(context);
  *error = ErrorOf(pd);
  return PdHandle(pd, VerbsDeleter{std::move(verbs)});
}

ChannelHandle CreateChannel(std::shared_ptr<const VerbsApi> verbs, ibv_context* context,
                            int* error) {
  errno = 0;
  ibv_comp_channel* channel = verbs->create_comp_channel(context);
  *error = ErrorOf(channel);
  return ChannelHandle(channel, VerbsDeleter{std::move(verbs)});
}

CqHandle CreateCq(std::shared_ptr<const VerbsApi> verbs, ibv_context* context, int cqe,
                  ibv_comp_channel* channel, int vector, int* error) {
  errno = 0;
  ibv_cq* cq = verbs->create_cq(context, cqe, channel, vector);
  *error = ErrorOf(cq);
  return CqHandle(cq, VerbsDeleter{std::move(verbs)});
}

MrHandle RegisterMr(std::shared_ptr<const VerbsApi> verbs, ibv_pd* pd, void* address, size_t length,
                    int access, int* error) {
  errno = 0;
  ibv_mr* mr = verbs->reg_mr(pd, address, length, access);
  *error = ErrorOf(mr);
  return MrHandle(mr, VerbsDeleter{std::move(verbs)});
}

QpHandle CreateQp(std::shared_ptr<const VerbsApi> verbs, ibv_pd* pd, ibv_qp_init_attr attributes,
                  int* error) {
  errno = 0;
  ibv_qp* qp = verbs->create_qp(pd, &attributes);
  *error = ErrorOf(qp);
  return QpHandle(qp, VerbsDeleter{std::move(verbs)});
}

}  // namespace nicmon
