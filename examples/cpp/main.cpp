// The pool on the SharedKV wire, version 1: JSON lines in, JSON lines out.
//
// Knows messages and how each becomes a call of the pool. Decides nothing about pages.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "pool.hpp"

using kv::State;
using nlohmann::json;

// Operations of the contract that this engine does not claim, and the feature that each belongs to.
const std::map<std::string, std::string> UNCLAIMED = {
    {"planning.split", "planning"},
    {"allocation.make_room", "allocation.free-room"}, {"allocation.snapshot", "allocation.snapshot"},
    {"allocation.restore", "allocation.snapshot"}, {"probe.cost", "probe.cost"}, {"probe.events", "probe.events"},
};

const json DESCRIPTION = {{"name", "example-cpp"}, {"version", "1.0"}, {"features", {"allocation", "probe.pages"}},
                          {"limits", json::object()}, {"environment", {{"language", "C++17"}}}};

std::vector<kv::Request> batch_of(const json& args) {
    std::vector<kv::Request> batch;
    for (const auto& one : args.at("batch")) batch.push_back({one.at("prefix_tokens"), one.at("extend_tokens")});
    return batch;
}

json call(kv::Pool& pool, const std::string& op, const json& args) {
    if (op == "allocation.extend") {
        const auto done = pool.extend(batch_of(args));
        return {{"owners", done.owners}, {"pages", done.pages},
                {"locations", done.locations}, {"evicted", done.evicted}};
    }
    if (op == "allocation.admit") {
        const kv::Ints need = pool.required(batch_of(args)), missing = pool.deficit(need), none(need.size(), 0);
        return {{"fits", missing == none}, {"required", need}, {"available", pool.room()}, {"deficit", missing}};
    }
    if (op == "allocation.retain") return pool.retain(args.at("pages")), nullptr;
    if (op == "allocation.release") return pool.release(args.at("pages")), nullptr;
    if (op == "allocation.release_locations") return pool.release_locations(args.at("locations")), nullptr;
    if (op == "allocation.owners") return pool.owners(args.at("pages"));
    if (op == "allocation.allocate_flat") throw kv::Rejected{"allocation_without_owners", "a page needs an owner"};
    if (op == "allocation.lanes")
        return {{"capacity", pool.capacity()}, {"free", pool.count(State::Free)},
                {"evictable", pool.count(State::Evictable)}, {"in_use", pool.count(State::InUse)}};
    if (op == "probe.pages")
        return {{"free", pool.pages_in(State::Free)}, {"evictable", pool.pages_in(State::Evictable)},
                {"in_use", pool.pages_in(State::InUse)}};
    throw std::invalid_argument("unknown operation " + op);
}

class Server {
  public:
    bool is_running = true;

    std::string answer(const std::string& line) {
        json reply = {{"id", nullptr}};
        try {
            const json request = json::parse(line);
            reply["id"] = request.at("id");
            const auto unclaimed = UNCLAIMED.find(request.at("op").get<std::string>());
            if (unclaimed != UNCLAIMED.end()) reply["unsupported"] = unclaimed->second;
            else reply["ok"] = perform(request.at("op"), request);
        } catch (const kv::Rejected& no) {
            reply["err"] = {{"error", "Rejected"}, {"reason", no.reason}, {"detail", no.detail}};
        } catch (const kv::CapacityWait& wait) {
            reply["err"] = {{"error", "CapacityWait"}, {"required", wait.required},
                            {"available", wait.available}, {"deficit", wait.deficit}};
        } catch (const std::exception& error) {  // not JSON, a missing argument, an unknown session
            reply["error"] = {{"kind", "protocol"}, {"message", error.what()}};
        }
        return reply.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    }

  private:
    json perform(const std::string& op, const json& request) {
        const json args = request.value("args", json::object());
        if (op == "hello") return hello(args.at("wire"));
        if (op == "open") return open(args.at("config"));
        if (op == "shutdown") return is_running = false, nullptr;
        const auto session = sessions_.find(request.at("session").get<std::int64_t>());
        if (session == sessions_.end()) throw std::invalid_argument("unknown session");
        if (op == "close") return sessions_.erase(session), nullptr;
        return call(session->second, op, args);
    }

    static json hello(const std::vector<int>& versions) {
        if (std::count(versions.begin(), versions.end(), 1) == 0) throw std::invalid_argument("wanted wire 1");
        return {{"wire", 1}, {"description", DESCRIPTION}};
    }

    json open(const json& config) {
        const kv::Pool pool(config.at("cp_size"), config.at("page_size"), config.at("pages"), config.at("split"));
        sessions_.emplace(++last_session_, pool);
        return {{"session", last_session_}};
    }

    std::map<std::int64_t, kv::Pool> sessions_;
    std::int64_t last_session_ = 0;
};

// The descriptors of the wire stand in the environment; without them the program speaks on standard input and output.
std::FILE* channel(const char* name, int fallback, const char* mode) {
    const char* value = std::getenv(name);
    return fdopen(value == nullptr ? fallback : std::atoi(value), mode);
}

int main() {
    std::FILE* const in = channel("SHAREDKV_WIRE_IN", STDIN_FILENO, "r");
    std::FILE* const out = channel("SHAREDKV_WIRE_OUT", STDOUT_FILENO, "w");
    Server server;
    char* line = nullptr;
    std::size_t room = 0;
    for (ssize_t length; server.is_running && (length = getline(&line, &room, in)) > 0;) {
        std::fputs(server.answer({line, static_cast<std::size_t>(length)}).c_str(), out);
        if (std::fflush(out) != 0) return 1;  // an answer leaves before the next call begins
    }
    return 0;
}
