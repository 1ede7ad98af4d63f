#include <cerrno>

#include "nicmon/verbs/events.h"
#include "node.h"

namespace nicmon::sim {
namespace {

bool ChangesPort(const SimCommand& command) {
  return command.state || command.physical_state || command.effective_speed_100mbps ||
         command.active_speed || command.active_speed_ex || command.active_width ||
         !command.counters.empty();
}

bool IsFileName(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name[0] != '.';
}

// An event of this type says which port it is about.
bool CarriesPort(int type) {
  const EventType* row = FindEventType(type);
  return row == nullptr || row->scope == EventScope::kPort;
}

std::string CheckVerb(const std::string& name) {
  if (FindVerb(name)) {
    return "";
  }
  std::string names;
  for (size_t i = 0; i < kVerbCount; ++i) {
    names += (i == 0 ? "" : " ") + std::string(VerbName(static_cast<Verb>(i)));
  }
  return "unknown verb \"" + name + "\"; accepted: " + names;
}

std::string CheckFaults(const SimCommand& command) {
  if (command.fail) {
    if (std::string wrong = CheckVerb(command.fail->verb); !wrong.empty()) {
      return wrong;
    }
    if (command.fail->error <= 0) {
      return "fail needs an errno";
    }
  }
  if (command.hang) {
    if (std::string wrong = CheckVerb(command.hang->verb); !wrong.empty()) {
      return wrong;
    }
    if (command.hang->duration < Duration::zero()) {
      return "a hang cannot last a negative time";
    }
  }
  return "";
}

// plug, unplug and rename against each other and the state of the device (nullptr: unknown name).
std::string CheckLife(Node& node, const SimCommand& command, const Device* device) {
  const bool present = device != nullptr && device->current != nullptr &&
                       device->current->life == Registration::Life::kLive;
  if (command.plug && command.unplug) {
    return "plug and unplug exclude each other";
  }
  if (command.plug && present) {
    return "device \"" + command.device + "\" is plugged in";
  }
  if (command.plug && device != nullptr && device->current != nullptr) {
    return "the removal of \"" + command.device + "\" still waits for its last close";
  }
  if (command.plug && !IsFileName(command.device)) {
    return "a device needs a name";
  }
  if ((command.unplug || command.rename) && !command.plug && !present) {
    return "device \"" + command.device + "\" is not plugged in";
  }
  if (command.silent && !command.unplug) {
    return "silent goes with unplug";
  }
  const std::string& name = command.rename ? *command.rename : command.device;
  if (command.rename && (!IsFileName(name) || node.FindDevice(name) != nullptr)) {
    return "the new name \"" + name + "\" is empty, malformed or taken";
  }
  if ((command.rename || command.plug) && name.size() >= IBV_SYSFS_NAME_MAX) {
    return "a device name has at most 63 characters";
  }
  return "";
}

std::string CheckPort(const SimCommand& command, const Device& device) {
  const bool event_needs_port = command.event && CarriesPort(*command.event);
  if (!command.port) {
    const bool needed = ChangesPort(command) || event_needs_port;
    return needed && device.ports.size() != 1 ? "port is missing" : "";
  }
  if (ChangesPort(command) && (*command.port == 0 || *command.port > device.ports.size())) {
    return "device \"" + command.device + "\" has no port " + std::to_string(*command.port);
  }
  return "";
}

std::string CheckEventAndSet(const SimCommand& command, const Device* device) {
  if (command.event && (*command.event < 0 || command.repeat == 0)) {
    return "an event number is at least 0, repeat at least 1";
  }
  for (const auto& [name, value] : command.counters) {
    if (!IsFileName(name)) {
      return "a counter needs a file name";
    }
  }
  if (device == nullptr) {
    return command.event || ChangesPort(command) ? "set and event need a device that exists" : "";
  }
  if ((command.event || ChangesPort(command)) && device->current == nullptr) {
    return "device \"" + command.device + "\" is not plugged in";
  }
  return CheckPort(command, *device);
}

bool DoesNothing(const SimCommand& command) {
  return !command.event && !ChangesPort(command) && !command.fail && !command.hang &&
         !command.plug && !command.unplug && !command.rename && !command.silent;
}

std::string Check(Node& node, const SimCommand& command, const Device* device) {
  const bool node_wide = command.device.empty() ||
                         (command.fail && command.fail->verb == "get_device_list") ||
                         (command.hang && command.hang->verb == "get_device_list");
  if (device == nullptr && !command.plug && !(node_wide && (command.fail || command.hang))) {
    return "unknown device \"" + command.device + "\"";
  }
  if (DoesNothing(command)) {
    return "there is nothing to do: give set, event, fail, hang, unplug, plug or rename";
  }
  for (std::string wrong : {CheckFaults(command), CheckEventAndSet(command, device)}) {
    if (!wrong.empty()) {
      return wrong;
    }
  }
  if (command.plug || command.unplug || command.rename || command.silent) {
    return CheckLife(node, command, device);
  }
  return "";
}

void SetCounters(const SimCommand& command, Port& port) {
  for (const auto& [name, value] : command.counters) {
    const auto counter = port.counters.find(name);
    (counter != port.counters.end() ? counter->second : port.hw_counters[name]) = value;
  }
}

void SetPort(const SimCommand& command, Port& port) {
  PortAttributes& attributes = port.attributes;
  const bool was_active = attributes.state == IBV_PORT_ACTIVE;
  attributes.state = command.state.value_or(attributes.state);
  port.carrier_changes += was_active != (attributes.state == IBV_PORT_ACTIVE) ? 1 : 0;
  attributes.physical_state = command.physical_state.value_or(attributes.physical_state);
  port.effective_100mbps = command.effective_speed_100mbps.value_or(port.effective_100mbps);
  if (command.active_speed) {
    attributes.active_speed = *command.active_speed;
    // A library and kernel that know the long code keep both in step.
    if (attributes.active_speed_ex != 0) {
      attributes.active_speed_ex = *command.active_speed;
    }
  }
  attributes.active_speed_ex = command.active_speed_ex.value_or(attributes.active_speed_ex);
  attributes.active_width = command.active_width.value_or(attributes.active_width);
  SetCounters(command, port);
}

int Target(const Device* device, Verb verb) {
  return device == nullptr || verb == Verb::kGetDeviceList ? Faults::kEveryDevice : device->slot;
}

void SetFaults(Node& node, const SimCommand& command, const Device* device) {
  if (command.fail) {
    const Verb verb = *FindVerb(command.fail->verb);
    node.faults.Fail(Target(device, verb), verb,
                     {command.fail->error, command.fail->skip, command.fail->times});
  }
  if (command.hang) {
    const Verb verb = *FindVerb(command.hang->verb);
    node.faults.Hang(Target(device, verb), verb,
                     std::chrono::steady_clock::now() + command.hang->duration);
  }
}

void SendEvent(Node& node, const SimCommand& command, Device& device) {
  if (!command.event) {
    return;
  }
  const int absent = CarriesPort(*command.event) ? 1 : 0;
  const int port = command.port ? static_cast<int>(*command.port) : absent;
  node.Enqueue(device, *command.event, port, command.repeat);
}

}  // namespace

std::string ApplyCommand(Node& node, const SimCommand& command) {
  Device* device = node.FindDevice(command.device);
  if (std::string wrong = Check(node, command, device); !wrong.empty()) {
    return wrong;
  }
  if (ChangesPort(command)) {
    const uint32_t number = command.port.value_or(1);
    SetPort(command, device->ports[number - 1]);
    node.RenderPort(*device, number);
  }
  SetFaults(node, command, device);
  if (command.event) {
    SendEvent(node, command, *device);
  }
  if (command.unplug) {
    node.Unplug(*device, command.silent);
  } else if (command.plug) {
    const std::string name = command.rename.value_or(command.device);
    device = device != nullptr ? device : &node.AddDevice(name);
    device->name = name;
    node.Plug(*device);
  } else if (command.rename) {
    node.Rename(*device, *command.rename);
  }
  return "";
}

}  // namespace nicmon::sim
