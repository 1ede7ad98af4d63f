// What is, as JSON: node, devices, ports, holds, selection.
#include "http/json.h"
#include "http/json_elements.h"

namespace nicmon::http::json {

Json NodeJson(const NodeView& view, const About& about) {
  Json json = Json::object();
  json["node"] = view.node_name;
  json["version"] = Str(about.version);
  json["time"] = Rfc3339(view.now);
  json["simulated"] = about.simulated;
  json["admin_socket"] = Str(about.admin_socket);
  json["discovered"] = view.discovered;
  json["discovery_note"] = Str(view.discovery_note);
  json["discovery_stalled"] = view.discovery_stalled;
  json["ready"] = view.Ready();
  json["devices"] = view.devices.size();
  json["ports"] = view.ports;
  json["ports_up"] = view.ports_up;
  json["ports_serving"] = view.ports_serving;
  json["ports_held"] = view.ports_held;
  json["ports_required"] = view.ports_required;
  json["ports_expected"] = Opt(view.expected_ports);
  json["holds_durable"] = view.holds->durable;
  json["holds_lost"] = view.holds->lost;
  return json;
}

std::string Node(const NodeView& view, const About& about) {
  return Text(NodeJson(view, about));
}

std::string Ready(const NodeView& view) {
  Json json = Json::object();
  json["ready"] = view.Ready();
  json["discovered"] = view.discovered;
  json["ports"] = view.ports;
  json["ports_up"] = view.ports_up;
  json["ports_serving"] = view.ports_serving;
  json["ports_expected"] = Opt(view.expected_ports);
  std::string note = WhyNotReady(view);
  note += (note.empty() || view.discovery_note.empty() ? "" : "; ") + view.discovery_note;
  json["note"] = Str(note);
  return Text(json);
}

std::string Devices(const NodeView& view) {
  Json list = Json::array();
  for (const DeviceView& device : view.devices) {
    list.push_back(DeviceJson(device));
  }
  return Text({{"devices", std::move(list)}});
}

std::string Device(const DeviceView& device) {
  return Text(DeviceJson(device));
}

std::string Ports(const NodeView& view) {
  Json list = Json::array();
  for (const DeviceView& device : view.devices) {
    for (const PortView& port : device.ports) {
      list.push_back(PortJson(port));
    }
  }
  return Text({{"ports", std::move(list)}});
}

std::string Port(const PortView& port) {
  return Text(PortJson(port));
}

std::string HoldList(const NodeView& view) {
  Json list = Json::array();
  for (const HoldsSnapshot::Item& item : view.holds->InForce(view.now)) {
    list.push_back(KeptHoldJson(item));
  }
  return Text(
      {{"holds", std::move(list)}, {"durable", view.holds->durable}, {"lost", view.holds->lost}});
}

std::string Selection(const std::vector<const PortView*>& ports, std::optional<uint64_t> requested,
                      size_t available) {
  Json json = Json::object();
  json["requested"] = Opt(requested);
  json["available"] = available;
  json["ports"] = Json::array();
  for (const PortView* port : ports) {
    const auto& estimate = port->data->estimate_bytes_per_second;
    json["ports"].push_back({{"device", port->device->name},
                             {"port", port->data->number},
                             {"pci_address", Str(port->device->identity.pci_address)},
                             {"numa_node", Opt(port->device->identity.numa_node)},
                             {"netdev", Str(Netdev(*port))},
                             {"link_layer", Str(port->data->link_layer)},
                             {"effective_speed_gbps", Gbps(port->data->effective_speed_bps)},
                             {"estimate_gbps", GbpsOf(estimate)}});
  }
  return Text(json);
}

}  // namespace nicmon::http::json
