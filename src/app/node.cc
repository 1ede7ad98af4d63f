#include "nicmon/app/node.h"

#include "nicmon/app/state.h"
#include "nicmon/base/log.h"
#include "nicmon/config/version.h"
#include "nicmon/metrics/exposition.h"

namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The watchdog's turn may be late by that much before /healthz says so.
constexpr Duration kHealthyFor = seconds(10);

ViewOptions MakeViewOptions(const Config& config) {
  ViewOptions options;
  options.node_name = config.node_name;
  options.tick = config.tick;
  options.expect_speed = config.expect_speed;
  options.expect_ports = config.expect_ports;
  options.expect_ports_auto = config.expect_ports_auto;
  options.watch_device = DeviceFilter(config);
  return options;
}

NodeMonitorOptions MakeMonitorOptions(const Config& config, const Journal& journal) {
  NodeMonitorOptions options;
  options.record = journal.recorder();
  options.tick = config.tick;
  options.settle = config.settle;
  options.counters_interval = config.counters_interval;
  options.data_path = config.data_path;
  options.all_functions = config.all_functions;
  options.watch_device = DeviceFilter(config);
  return options;
}

JournalOptions MakeJournalOptions(const std::shared_ptr<const StateDirectory>& state) {
  JournalOptions options;
  options.directory = state ? state->path() : "";
  return options;
}

}  // namespace

Node::Node(const Config& config)
    : view_options_(MakeViewOptions(config)),
      profile_(config.metrics_profile),
      reloads_files_(!config.admin_token_file.empty() || !config.web_config_file.empty()),
      hardware_(OpenHardware(config)),
      state_(OpenState(config)),
      holds_(std::make_shared<Holds>(clock_, MakeHoldsHome(state_))),
      journal_(MakeJournalOptions(state_), clock_),
      holds_writer_(holds_),
      monitor_(hardware_.verbs, hardware_.sysfs, clock_, MakeMonitorOptions(config, journal_),
               holds_),
      http_stats_(std::make_shared<HttpStats>()),
      watchdog_(
          holds_, [this](DeviceId id) { monitor_.Submit(id, CommandKind::kPoke, 0); },
          journal_.recorder()),
      last_second_(clock_.steady().time_since_epoch().count()),
      http_(MakeServer(config)) {
  journal_.Subscribe(http_->stream_listener());
}

std::unique_ptr<HttpServer> Node::MakeServer(const Config& config) {
  HttpOptions options;
  options.listen_host = config.listen_host;
  options.listen_port = config.listen_port;
  options.fall_back_to_ipv4 = !config.listen_given;
  options.admin_socket = config.admin_socket;
  options.admin_socket_group = config.admin_socket_group;
  options.admin_socket_required = config.admin_socket_given;
  options.admin_token_file = config.admin_token_file;
  options.admin_allow_plaintext = config.admin_allow_plaintext;
  options.web_config_file = config.web_config_file;
  return std::make_unique<HttpServer>(std::move(options), MakeBackend(), http_stats_);
}

Backend Node::MakeBackend() {
  Backend backend;
  backend.view = [this] { return View(); };
  backend.view_of = [this](std::shared_ptr<const DeviceSnapshot> snapshot) {
    return BuildDeviceView(view_options_, {std::move(snapshot), {}}, holds_->snapshot(),
                           clock_.steady(), clock_.wall());
  };
  backend.submit = [this](DeviceId device, CommandKind kind, uint32_t port) {
    return monitor_.Submit(device, kind, port);
  };
  backend.probe = [this](DeviceId device, uint32_t port, Duration patience) {
    return monitor_.Probe(device, port, patience);
  };
  backend.probing = [this](DeviceId device) { return monitor_.Probing(device); };
  backend.forget_device = [this](DeviceId device) { return monitor_.Forget(device); };
  backend.holds = holds_;
  backend.record = journal_.recorder();
  backend.events = [this](const EventQuery& query) { return journal_.Query(query); };
  backend.metrics = [this] { return Metrics(); };
  backend.healthy = [this] {
    return clock_.steady() - SteadyTime(Duration(last_second_.load())) < kHealthyFor;
  };
  if (hardware_.simulated) {
    backend.simulate = [rnic = hardware_.simulated](const SimCommand& command) {
      return rnic->Apply(command);
    };
  }
  backend.clock = clock_;
  backend.version = Version();
  return backend;
}

NodeView Node::View() const {
  ViewInput input = monitor_.Read();
  input.holds = holds_->snapshot();
  input.now_steady = clock_.steady();
  input.now_wall = clock_.wall();
  return BuildView(view_options_, input);
}

std::string Node::Metrics() {
  MetricsInput input;
  input.view = View();
  input.profile = profile_;
  input.version = Version();
  input.revision = Revision();
  input.libibverbs_version = hardware_.verbs->library_version;
  input.simulated = hardware_.simulated != nullptr;
  if (reloads_files_) {
    input.config_reload_ok = http_->config_reload_ok();
  }
  const NodeStats& stats = monitor_.stats();
  input.event_publish = stats.event_publish_seconds.Collect();
  input.drain_events = stats.drain_events_per_wakeup.Collect();
  input.port_query = stats.port_query_seconds.Collect();
  input.http = http_stats_->Read();
  input.log_suppressed = log::SuppressedCount();
  input.journal_dropped = journal_.dropped();
  input.process = ReadProcess();
  return RenderPage(input);
}

void Node::Start() {
  journal_.Start();
  holds_writer_.Start();
  monitor_.Start();
  http_->Start();
  log::Info("serving", {{"listen", http_->tcp_address()},
                        {"admin_socket", http_->admin_socket()},
                        {"state_dir", state_ ? state_->path() : "none"},
                        {"libibverbs", hardware_.verbs->library_version},
                        {"simulated", hardware_.simulated ? "true" : "false"}});
}

std::string Node::Second() {
  const NodeView view = View();
  watchdog_.Turn(view);
  last_second_.store(clock_.steady().time_since_epoch().count());
  return std::to_string(view.ports_serving) + " of " + std::to_string(view.ports) +
         " ports serving";
}

void Node::Reload() {
  log::Info("reading files again");
  http_->Reload();
}

void Node::Stop() {
  http_->Close();
  // Ends the commands that requests wait for, which answer 503 then.
  if (!monitor_.Stop(milliseconds(700))) {
    log::Warning("a device does not answer, leaving its thread behind");
  }
  if (!http_->Stop(milliseconds(400))) {
    log::Warning("a request is still being answered, leaving it behind");
  }
  if (!journal_.Stop(milliseconds(200))) {
    log::Warning("the history's disk does not answer, its last records may be lost");
  }
  if (!holds_writer_.Stop(milliseconds(300))) {
    log::Warning("the disk does not take what was last learned of ports");
  }
}

}  // namespace nicmon
