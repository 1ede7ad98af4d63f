#include "http/status_page.h"

#include <openssl/evp.h>

#include <array>

#include "http/text.h"
#include "http/text_tables.h"

namespace nicmon::http {
namespace {

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--dim:#57606a;--line:#d0d7de;--bad:#b42318;--hold:#8a5a00;--ok:#1a7f37}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9aa4ae;--line:#30363d;--bad:#ff7b72;--hold:#e3b341;--ok:#56d364}}
body{background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,sans-serif;margin:1.5rem}
h1{font-size:1.3rem;margin:0}h2{font-size:1.05rem;margin:1.5rem 0 .4rem}p{margin:.3rem 0;color:var(--dim)}
div{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.25rem .8rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--dim);font-weight:600}.bad{color:var(--bad);font-weight:600}.hold{color:var(--hold)}.ok{color:var(--ok)}
)";

/// What the style element hashes to: the policy lets in this style and nothing else.
std::string StyleHash() {
  std::array<unsigned char, 32> digest{};
  unsigned int length = 0;
  ::EVP_Digest(kStyle.data(), kStyle.size(), digest.data(), &length, ::EVP_sha256(), nullptr);
  std::array<unsigned char, 4 * ((32 + 2) / 3) + 1> base64{};
  ::EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
  return reinterpret_cast<const char*>(base64.data());
}

std::string Cell(std::string_view text, std::string_view css = "") {
  return "<td" + (css.empty() ? "" : " class=\"" + std::string(css) + "\"") + ">" +
         (text.empty() ? "–" : EscapeHtml(text)) + "</td>";
}

std::string_view Css(int problem_rank) {
  constexpr std::array<std::string_view, 3> kClasses = {"bad", "hold", "ok"};
  return kClasses[static_cast<size_t>(problem_rank)];
}

std::string Heading(std::initializer_list<std::string_view> names) {
  std::string row = "<div><table><thead><tr>";
  for (const std::string_view name : names) {
    row += "<th scope=\"col\">" + std::string(name) + "</th>";
  }
  return row + "</tr></thead><tbody>\n";
}

std::string Ports(const NodeView& view) {
  std::string out = "<h2>Ports</h2>\n" + Heading({"Port", "Serving", "State", "Physical", "Gb/s",
                                                  "Expected", "PCI", "Last change", "Paused"});
  for (const PortView* port : PortsByProblem(view)) {
    const PortSnapshot& data = *port->data;
    const std::string_view state = data.state ? PortStateName(*data.state) : "";
    out += "<tr>" + Cell(port->device->name + "/" + std::to_string(data.number)) +
           Cell(port->serving ? "yes" : "no", Css(ProblemRank(*port))) +
           Cell(std::string(state) + (port->stale ? " (stale)" : "")) +
           Cell(data.physical_state ? PhysicalStateName(*data.physical_state) : "") +
           Cell(GbpsText(data.effective_speed_bps)) + Cell(GbpsText(port->expected_speed_bps)) +
           Cell(port->device->identity.pci_address) +
           Cell(data.last_change ? Rfc3339(*data.last_change) : "") + Cell(PauseText(*port)) +
           "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string Devices(const NodeView& view) {
  std::string out = "<h2>Devices</h2>\n" + Heading({"Device", "Status", "PCI", "PCIe", "Driver",
                                                    "Firmware", "Board", "Detail"});
  for (const DeviceView* device : DevicesByProblem(view)) {
    const Identity& identity = device->data->identity;
    out += "<tr>" + Cell(device->data->name) +
           Cell(device->status_name(), Css(ProblemRank(*device))) + Cell(identity.pci_address) +
           Cell(PcieText(device->data->pcie), BelowMaximum(device->data->pcie) ? "hold" : "") +
           Cell(identity.driver) + Cell(identity.firmware_version) + Cell(identity.board_id) +
           Cell(device->stalled ? "stuck in " + device->stalled_call : device->data->detail) +
           "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string Summary(const NodeView& view, const std::string& version) {
  const auto count = [](uint32_t n, std::string_view what) {
    return std::to_string(n) + " " + std::string(what);
  };
  std::string line = count(view.ports, "ports, ") + count(view.ports_up, "up, ") +
                     count(view.ports_serving, "serving, ") + count(view.ports_held, "held");
  if (view.expected_ports) {
    line += ", " + count(*view.expected_ports, "expected");
  }
  return "<h1>" + EscapeHtml(view.node_name) + "</h1>\n<p>" + line + " · nicmon " +
         EscapeHtml(version) + " · " + Rfc3339(view.now) + " · reloads every 15 s</p>\n" +
         (view.discovery_note.empty()
              ? ""
              : "<p class=\"bad\">" + EscapeHtml(view.discovery_note) + "</p>\n");
}

}  // namespace

Reply StatusPage(const NodeView& view, const std::string& version) {
  static const std::string policy = "default-src 'none'; style-src 'sha256-" + StyleHash() +
                                    "'; base-uri 'none'; form-action 'none'; "
                                    "frame-ancestors 'none'";
  Reply reply;
  reply.content_type = "text/html; charset=utf-8";
  reply.headers.emplace_back("Content-Security-Policy", policy);
  reply.headers.emplace_back("Referrer-Policy", "no-referrer");
  reply.body =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta http-equiv=\"refresh\" content=\"15\"><title>nicmon " +
      EscapeHtml(view.node_name) + "</title><style>" + std::string(kStyle) +
      "</style></head><body>\n" + Summary(view, version) + Ports(view) + Devices(view) +
      "</body></html>\n";
  return reply;
}

}  // namespace nicmon::http
