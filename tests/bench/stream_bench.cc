// The event stream and the history: fan-out of a thousand flaps to twenty clients, and queries over
// a hundred thousand records, each beside a bare loop of the same run.
// Usage: stream_bench [FLAPS] [ROWS]
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <latch>
#include <span>
#include <stdexcept>
#include <thread>

#include "bench/table.h"
#include "http/fake_node.h"
#include "http/raw_client.h"
#include "nicmon/history/journal.h"
#include "nicmon/http/server.h"
#include "testing/temp_tree.h"

namespace nicmon::bench {
namespace {

constexpr int kClients = 20;
constexpr int kDevices = 16;

/// Whoever reads from a socket and tells when a record came.
class Reader {
 public:
  explicit Reader(int fd) : fd_(fd) {}

  /// Reads until an event with this id (or one after it) has come.
  void WaitFor(uint64_t id) {
    const std::string mark = "id: " + std::to_string(id) + "\n";
    while (buffer_.find(mark) == std::string::npos) {
      Read();
    }
    buffer_.erase(0, buffer_.find(mark));
  }
  void WaitForBytes(size_t count) {
    while (buffer_.size() < count) {
      Read();
    }
    buffer_.erase(0, count);
  }

 private:
  void Read() {
    std::array<char, 65536> chunk;
    const ssize_t n = ::recv(fd_, chunk.data(), chunk.size(), 0);
    if (n <= 0) {
      throw std::runtime_error("the stream has ended");
    }
    buffer_.append(chunk.data(), static_cast<size_t>(n));
  }
  const int fd_;
  std::string buffer_;
};

Transition Link(uint64_t seq, bool up) {
  Transition event;
  event.seq = seq;
  event.time = std::chrono::system_clock::now();
  event.type = TransitionType::kLink;
  event.device = "mlx5_" + std::to_string(seq / 2 % kDevices);
  event.port = 1;
  event.cause = "event";
  event.before = up ? "down" : "active";
  event.after = up ? "active" : "down";
  event.note = up ? "up again after 1.234 s" : "lost its link";
  return event;
}

/// Has `send` send the i-th message and each reader wait for it; one after the other, so that each
/// sample is from the sending to the moment a client has it.
template <typename Send, typename Wait>
void FanOut(const std::string& what, int rounds, Send send, Wait wait, Samples* all,
            Samples* slowest) {
  std::vector<std::vector<double>> samples(kClients,
                                           std::vector<double>(static_cast<size_t>(rounds)));
  std::vector<std::unique_ptr<std::latch>> begin, end;
  for (int i = 0; i < rounds; ++i) {
    begin.push_back(std::make_unique<std::latch>(1));
    end.push_back(std::make_unique<std::latch>(kClients));
  }
  std::vector<BenchClock::time_point> sent(static_cast<size_t>(rounds));
  std::vector<std::thread> threads;
  for (size_t client = 0; client < kClients; ++client) {
    threads.emplace_back([&, client] {
      for (size_t i = 0; i < static_cast<size_t>(rounds); ++i) {
        wait(client, static_cast<int>(i));
        const auto got = BenchClock::now();
        begin[i]->wait();
        samples[client][i] = Seconds(got - sent[i]);
        end[i]->count_down();
      }
    });
  }
  for (size_t i = 0; i < static_cast<size_t>(rounds); ++i) {
    sent[i] = BenchClock::now();
    send(static_cast<int>(i));
    begin[i]->count_down();
    end[i]->wait();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (size_t i = 0; i < static_cast<size_t>(rounds); ++i) {
    double last = 0;
    for (const auto& mine : samples) {
      all->Add(mine[i]);
      last = std::max(last, mine[i]);
    }
    slowest->Add(last);
  }
  Row(what + ", each client, p50 / p99",
      Micros(all->Quantile(0.5)) + " / " + Micros(all->Quantile(0.99)));
  Row("  the last of them, p50 / p99",
      Micros(slowest->Quantile(0.5)) + " / " + Micros(slowest->Quantile(0.99)));
}

/// The floor: a message of that size written to each of twenty sockets in a loop.
double BareLoop(int rounds, size_t size) {
  std::vector<UniqueFd> ours, theirs;
  std::vector<Reader> readers;
  for (int i = 0; i < kClients; ++i) {
    std::array<int, 2> fds{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()) != 0) {
      throw std::runtime_error("socketpair failed");
    }
    ours.emplace_back(fds[0]);
    theirs.emplace_back(fds[1]);
    readers.emplace_back(fds[1]);
  }
  const std::string message(size, 'x');
  Samples all, slowest;
  FanOut(
      "a bare loop over twenty sockets", rounds,
      [&](int) {
        for (const UniqueFd& fd : ours) {
          (void)::send(fd.get(), message.data(), message.size(), MSG_NOSIGNAL);
        }
      },
      [&](size_t client, int) { readers[client].WaitForBytes(size); }, &all, &slowest);
  return slowest.Quantile(0.5);
}

void Stream(int flaps) {
  Heading("Stream: 1 of 16 ports flaps, 20 clients");
  testing::TempTree directory;
  http::FakeNode node;
  for (int i = 0; i < kDevices; ++i) {
    node.Add("mlx5_" + std::to_string(i), "0000:0" + std::to_string(i) + ":00.0");
  }
  HttpOptions options;
  options.listen_host = "127.0.0.1";
  options.listen_port = 0;
  options.admin_socket = directory.Path("admin.sock").string();
  HttpServer server(options, node.MakeBackend(), std::make_shared<HttpStats>());
  server.Start();
  JournalOptions kept;
  kept.directory = directory.root();
  Journal journal(kept, Clock::Real());
  journal.Subscribe(server.stream_listener());
  journal.Start();
  const RecordTransition record = journal.recorder();
  std::vector<std::unique_ptr<http::RawClient>> clients;
  std::vector<Reader> readers;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<http::RawClient>(server.tcp_address()));
    clients.back()->Send("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    readers.emplace_back(clients.back()->fd());
    readers.back().WaitForBytes(1000);  // its snapshot is on the way: it is a client from here on
  }
  const int records = 2 * flaps;
  Samples all, slowest;
  FanOut(
      "record to client", records,
      [&](int i) { record(Link(static_cast<uint64_t>(i) + 1, i % 2 == 1)); },
      [&](size_t client, int i) { readers[client].WaitFor(static_cast<uint64_t>(i) + 1); }, &all,
      &slowest);
  constexpr size_t kEventBytes = 1400;  // of a record with its port
  const double bare = BareLoop(records, kEventBytes);
  Row("  the last of them, stream : bare loop", Number(slowest.Quantile(0.5) / bare, " : 1", 1));

  const auto before = BenchClock::now();
  for (int i = 0; i < records; ++i) {
    record(Link(static_cast<uint64_t>(i), i % 2 == 1));
  }
  for (Reader& reader : readers) {
    reader.WaitFor(static_cast<uint64_t>(records) * 2);
  }
  const double took = Seconds(BenchClock::now() - before);
  Row("all " + std::to_string(records) + " records at once, until all clients have all",
      Number(took * 1e3, " ms", 1));
  Row("dropped by the journal", std::to_string(journal.dropped()), "aim: 0");
  journal.Stop(std::chrono::seconds(10));
  server.Stop(std::chrono::seconds(10));
}

template <typename Query>
double Time(Query query, int rounds) {
  Samples samples;
  for (int i = 0; i < rounds; ++i) {
    const auto before = BenchClock::now();
    query();
    samples.Add(Seconds(BenchClock::now() - before));
  }
  return samples.Quantile(0.5);
}

void History(size_t rows) {
  Heading(("History: queries over " + std::to_string(rows) + " records").c_str());
  testing::TempTree directory;
  JournalOptions options;
  options.directory = directory.root();
  options.queue = rows + 10;
  Journal journal(options, Clock::Real());
  std::vector<Transition> bare;
  const RecordTransition record = journal.recorder();
  for (size_t i = 0; i < rows; ++i) {
    Transition event = Link(i + 1, i % 2 == 1);
    event.type = i % 5000 == 0 ? TransitionType::kSpeed : TransitionType::kLink;
    bare.push_back(event);
    record(std::move(event));
  }
  const auto before = BenchClock::now();
  journal.Start();
  journal.Stop(std::chrono::seconds(100));
  const double took = Seconds(BenchClock::now() - before);
  Row("written, per record", Micros(took / static_cast<double>(rows)));
  Row("history.db",
      Number(
          static_cast<double>(std::filesystem::file_size(directory.Path("history.db"))) / (1 << 20),
          " MiB", 1));
  EventQuery latest, device, type, deep, none;
  device.device = "mlx5_3";
  type.type = TransitionType::kSpeed;
  deep.before_seq = rows / 100;
  none.device = "mlx5_3";
  none.port = 2;
  const std::pair<const char*, EventQuery> queries[] = {{"the latest 100", latest},
                                                        {"100 of one device", device},
                                                        {"the 20 of a rare type", type},
                                                        {"100 at the far end", deep},
                                                        {"of a port that has none", none}};
  const auto scan = [&bare](const EventQuery& query) {
    size_t found = 0;
    for (auto it = bare.rbegin(); it != bare.rend() && found < query.limit; ++it) {
      found += Matches(query, *it) ? 1 : 0;
    }
    return found;
  };
  // What a query without any index costs at least: every record looked at once.
  const double whole = Time([&] { scan(none); }, 50);
  Row("a bare loop over all records in memory", Micros(whole));
  for (const auto& [what, query] : queries) {
    const double time = Time([&, &q = query] { journal.Query(q); }, 50);
    Row(std::string(what) + ", and to the bare loop",
        Micros(time) + ", " + Number(time / whole, " : 1", 2));
  }
}

}  // namespace
}  // namespace nicmon::bench

int main(int argc, char** argv) {
  nicmon::bench::Stream(argc > 1 ? std::atoi(argv[1]) : 1000);
  nicmon::bench::History(argc > 2 ? static_cast<size_t>(std::atol(argv[2])) : 100'000);
  return 0;
}
