#include "library.h"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>

namespace nicmon {
namespace {

// The symbol of exactly that version: the default one of a later library may differ.
template <typename Function>
bool Load(void* handle, const char* name, const char* version, Function* function) {
  *function = reinterpret_cast<Function>(::dlvsym(handle, name, version));
  return *function != nullptr;
}

// The name of the first entry point that is missing, nullptr when all that is needed is there.
const char* LoadAll(void* handle, Library* library) {
  // IBVERBS_1.0 of these is another ABI: the versions matter.
  constexpr const char* k11 = "IBVERBS_1.1";
  const char* missing = nullptr;
  const auto need = [&](const char* name, const char* version, auto* function) {
    if (!Load(handle, name, version, function) && missing == nullptr) {
      missing = name;
    }
  };
  need("ibv_get_device_list", k11, &library->get_device_list);
  need("ibv_free_device_list", k11, &library->free_device_list);
  need("ibv_get_device_guid", k11, &library->get_device_guid);
  need("ibv_open_device", k11, &library->open_device);
  need("ibv_close_device", k11, &library->close_device);
  need("ibv_query_device", k11, &library->query_device);
  need("ibv_query_port", k11, &library->query_port);
  need("ibv_get_async_event", k11, &library->get_async_event);
  need("ibv_ack_async_event", k11, &library->ack_async_event);
  need("ibv_alloc_pd", k11, &library->alloc_pd);
  need("ibv_dealloc_pd", k11, &library->dealloc_pd);
  need("ibv_create_comp_channel", "IBVERBS_1.0", &library->create_comp_channel);
  need("ibv_destroy_comp_channel", "IBVERBS_1.0", &library->destroy_comp_channel);
  need("ibv_create_cq", k11, &library->create_cq);
  need("ibv_destroy_cq", k11, &library->destroy_cq);
  need("ibv_reg_mr", k11, &library->reg_mr);
  need("ibv_dereg_mr", k11, &library->dereg_mr);
  need("ibv_create_qp", k11, &library->create_qp);
  need("ibv_destroy_qp", k11, &library->destroy_qp);
  need("ibv_modify_qp", k11, &library->modify_qp);
  need("ibv_get_cq_event", k11, &library->get_cq_event);
  need("ibv_ack_cq_events", k11, &library->ack_cq_events);
  Load(handle, "ibv_get_device_index", "IBVERBS_1.9", &library->get_device_index);
  Load(handle, "_ibv_query_gid_ex", "IBVERBS_1.11", &library->query_gid_ex);
  Load(handle, "_ibv_query_gid_table", "IBVERBS_1.11", &library->query_gid_table);
  Load(handle, "ibv_query_port_speed", "IBVERBS_1.16", &library->query_port_speed);
  return missing;
}

std::string PathOf(const void* symbol) {
  Dl_info info{};
  if (::dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) {
    return "";
  }
  const std::unique_ptr<char, decltype(&std::free)> resolved(::realpath(info.dli_fname, nullptr),
                                                             &std::free);
  return resolved != nullptr ? resolved.get() : info.dli_fname;
}

}  // namespace

std::shared_ptr<const Library> LoadLibrary(std::string* why) {
  constexpr const char* kName = "libibverbs.so.1";
  // Never unloaded: its providers and its device cache live as long as the process.
  void* handle = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    *why = ::dlerror();
    return nullptr;
  }
  auto library = std::make_shared<Library>();
  if (const char* missing = LoadAll(handle, library.get())) {
    *why = std::string(kName) + " lacks " + missing;
    return nullptr;
  }
  library->path = PathOf(reinterpret_cast<const void*>(library->get_device_list));
  return library;
}

}  // namespace nicmon
