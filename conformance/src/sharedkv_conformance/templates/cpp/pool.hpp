// A pool of pages in owner lanes: each new page of a request lies on the lane of the rank that computes it.
//
// Knows pages, lanes and requests. Knows nothing of the wire: replace this file by calls into your engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kv {

using Ints = std::vector<std::int64_t>;  // page ids, lanes, token locations, or one count a lane
enum class State { Free, InUse, Evictable };

struct Rejected { std::string reason, detail; };
struct CapacityWait { Ints required, available, deficit; };
struct Request { std::int64_t prefix_tokens, extend_tokens; };
struct Extended { Ints owners, pages, locations, evicted; };

class Pool {
  public:
    Pool(std::int64_t cp_size, std::int64_t page_size, std::int64_t pages, const std::string& split)
        : cp_(cp_size), page_size_(page_size) {
        if (cp_ < 2) throw Rejected{"cp_size_too_small", "one rank shares with nobody"};
        if (page_size_ < 2) throw Rejected{"page_size_too_small", "a page of one token has no tail"};
        if (split != "in_sequence") throw Rejected{"split_not_in_sequence", split};
        // Surplus pages stay unused, and page 0 is the dummy.
        state_.assign(std::max<std::int64_t>(0, pages) / cp_ * cp_ + 1, State::Free);
    }

    // Checks everything before the first page moves: a batch is served whole or not at all.
    Extended extend(const std::vector<Request>& batch) {
        const auto plan = planned(batch);
        const Ints need = required(plan), missing = deficit(need);
        if (missing != Ints(cp_, 0)) throw CapacityWait{need, room(), missing};
        Extended answer{{}, {}, {}, evict(minus(need, count(State::Free)))};
        for (std::size_t index = 0; index < batch.size(); ++index) {
            const Ints pages = take(plan[index]);
            answer.owners.insert(answer.owners.end(), plan[index].begin(), plan[index].end());
            answer.pages.insert(answer.pages.end(), pages.begin(), pages.end());
            for (std::int64_t token = 0; token < batch[index].extend_tokens; ++token)
                answer.locations.push_back(pages[token / page_size_] * page_size_ + token % page_size_);
        }
        return answer;
    }

    void retain(const Ints& pages) {
        check_named(pages, {State::InUse});
        for (const auto page : pages) move(page, State::Evictable);
    }

    void release(const Ints& pages) {
        check_named(pages, {State::InUse, State::Evictable});
        for (const auto page : pages) move(page, State::Free);
    }

    void release_locations(const Ints& locations) {
        std::set<std::int64_t> pages;
        for (const auto location : locations) pages.insert(location < 0 ? -1 : location / page_size_);
        release(Ints(pages.begin(), pages.end()));
    }

    // The owner of a page is read from its id, whatever plan allocated it.
    Ints owners(const Ints& pages) const {
        Ints lanes;
        for (const auto page : pages) {
            if (!holds(page)) throw Rejected{"page_outside_pool", std::to_string(page)};
            lanes.push_back(lane(page));
        }
        return lanes;
    }

    // Counts, one a lane: what a batch needs, what it lacks, and what there is.
    Ints required(const std::vector<Request>& batch) const { return required(planned(batch)); }
    Ints deficit(const Ints& need) const { return minus(need, room()); }
    Ints room() const { return minus(capacity(), count(State::InUse)); }
    Ints capacity() const { return Ints(cp_, (end() - 1) / cp_); }
    Ints count(State state) const {
        Ints counts;
        for (const auto& pages : pages_in(state)) counts.push_back(pages.size());
        return counts;
    }

    std::vector<Ints> pages_in(State state) const {
        std::vector<Ints> lanes(cp_);
        for (std::int64_t page = 1; page < end(); ++page)
            if (state_[page] == state) lanes[lane(page)].push_back(page);
        return lanes;
    }

  private:
    std::int64_t end() const { return static_cast<std::int64_t>(state_.size()); }
    std::int64_t lane(std::int64_t page) const { return (page - 1) % cp_; }
    bool holds(std::int64_t page) const { return page >= 1 && page < end(); }

    // Each request is split on its own: 2 * cp_size blocks, the first ones longer by a page where it does not come
    // out even, dealt to the ranks upwards and back downwards.
    std::vector<Ints> planned(const std::vector<Request>& batch) const {
        std::vector<Ints> plan;
        for (const auto& [prefix, extend] : batch) {
            if (prefix < 0) throw Rejected{"prefix_negative", std::to_string(prefix)};
            if (prefix % page_size_ != 0) throw Rejected{"prefix_not_page_aligned", std::to_string(prefix)};
            if (extend < 1) throw Rejected{"extend_empty", std::to_string(extend)};
            const std::int64_t pages = (extend + page_size_ - 1) / page_size_, blocks = 2 * cp_;
            Ints owners;
            for (std::int64_t block = 0; block < blocks; ++block)
                owners.insert(owners.end(), (pages + blocks - 1 - block) / blocks, std::min(block, blocks - 1 - block));
            plan.push_back(owners);
        }
        return plan;
    }

    Ints required(const std::vector<Ints>& plan) const {
        Ints need(cp_, 0);
        for (const auto& owners : plan)
            for (const auto owner : owners) ++need[owner];
        return need;
    }

    Ints evict(Ints counts) {  // so many of each lane, the oldest first
        Ints victims;
        for (const auto page : kept_)
            if (counts[lane(page)]-- > 0) victims.push_back(page);
        for (const auto page : victims) move(page, State::Free);
        return victims;
    }

    Ints take(const Ints& owners) {
        auto free = pages_in(State::Free);
        for (std::int64_t lane = 0; lane < cp_; ++lane)
            free[lane] = run(free[lane], std::count(owners.begin(), owners.end(), lane));
        Ints used(cp_, 0), pages;
        for (const auto owner : owners) pages.push_back(free[owner][used[owner]++]);
        for (const auto page : pages) move(page, State::InUse);
        return pages;
    }

    // The first `count` pages of a lane that are neighbours there, or its lowest ones where no run is long enough.
    Ints run(const Ints& pages, std::int64_t count) const {
        Ints found;
        for (std::size_t index = 0; index < pages.size() && std::int64_t(found.size()) < count; ++index) {
            if (!found.empty() && pages[index] != found.back() + cp_) found.clear();
            found.push_back(pages[index]);
        }
        return std::int64_t(found.size()) == count ? found : Ints(pages.begin(), pages.begin() + count);
    }

    void move(std::int64_t page, State to) {
        if (state_[page] == State::Evictable) kept_.erase(std::find(kept_.begin(), kept_.end(), page));
        if (to == State::Evictable) kept_.push_back(page);
        state_[page] = to;
    }

    void check_named(const Ints& pages, const std::set<State>& allowed) const {
        std::set<std::int64_t> seen;
        for (const auto page : pages) {
            if (!holds(page)) throw Rejected{"page_outside_pool", std::to_string(page)};
            if (!seen.insert(page).second) throw Rejected{"page_named_twice", std::to_string(page)};
            if (allowed.count(state_[page]) == 0) throw Rejected{"page_not_allocated", std::to_string(page)};
        }
    }

    static Ints minus(Ints counts, const Ints& others) {  // never less than nothing
        for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = std::max<std::int64_t>(0, counts[i] - others[i]);
        return counts;
    }

    std::int64_t cp_, page_size_;
    std::vector<State> state_;  // by page
    Ints kept_;                 // evictable pages, oldest first
};

}  // namespace kv
