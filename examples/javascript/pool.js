"use strict";
// A pool of pages in owner lanes: each new page of a request lies on the lane of the rank that computes it.
//
// Knows pages, lanes and requests. Knows nothing of the wire: replace this file by calls into your engine.

class Rejected extends Error {
  constructor(reason, detail = "") {
    super(`${reason} ${detail}`);
    this.fields = { error: "Rejected", reason, detail: String(detail) };
  }
}

class CapacityWait extends Error {
  constructor(required, available, deficit) {
    super("a lane is short");
    this.fields = { error: "CapacityWait", required, available, deficit };
  }
}

const FREE = "free";
const IN_USE = "in_use";
const EVICTABLE = "evictable";

/** Subtract counts lane by lane; never less than nothing. */
const minus = (counts, others) => counts.map((count, lane) => Math.max(0, count - others[lane]));

class Pool {
  constructor({ cp_size, page_size, pages, split }) {
    if (cp_size < 2) throw new Rejected("cp_size_too_small", cp_size);
    if (page_size < 2) throw new Rejected("page_size_too_small", page_size);
    if (split !== "in_sequence") throw new Rejected("split_not_in_sequence", split);
    this.cpSize = cp_size;
    this.pageSize = page_size;
    this.lanePages = Math.floor(pages / cp_size); // surplus pages stay unused
    this.lastPage = this.lanePages * cp_size; // page 0 is the dummy and never given out
    this.state = new Array(this.lastPage + 1).fill(FREE);
    this.kept = this.everyLane(() => []); // evictable pages, oldest first
    this.numFree = this.everyLane(() => this.lanePages);
  }

  /** Check everything before the first page moves: a batch is served whole or not at all. */
  extend(batch) {
    const plan = this.planned(batch);
    const required = this.needed(plan);
    const deficit = minus(required, this.room());
    if (deficit.some((count) => count > 0)) throw new CapacityWait(required, this.room(), deficit);
    const evicted = this.evict(minus(required, this.numFree));
    const pages = plan.map((owners) => this.take(owners));
    const locations = batch.flatMap((request, index) => this.locations(pages[index], request.extend_tokens));
    return { owners: plan.flat(), pages: pages.flat(), locations, evicted };
  }

  admit(batch) {
    const required = this.needed(this.planned(batch));
    const deficit = minus(required, this.room());
    return { fits: deficit.every((count) => count === 0), required, available: this.room(), deficit };
  }

  retain(pages) {
    this.checkNamed(pages, [IN_USE]);
    for (const page of pages) {
      this.move(page, EVICTABLE);
      this.kept[this.lane(page)].push(page);
    }
  }

  release(pages) {
    this.checkNamed(pages, [IN_USE, EVICTABLE]);
    for (const page of pages) this.move(page, FREE);
  }

  releaseLocations(locations) {
    this.release([...new Set(locations.map((location) => Math.floor(location / this.pageSize)))]);
  }

  allocateFlat() {
    throw new Rejected("allocation_without_owners", "a page needs an owner");
  }

  /** Read the owner of each page from its id, whatever plan allocated it. */
  owners(pages) {
    const foreign = pages.find((page) => !this.holds(page));
    if (foreign !== undefined) throw new Rejected("page_outside_pool", foreign);
    return pages.map((page) => this.lane(page));
  }

  lanes() {
    const capacity = this.everyLane(() => this.lanePages);
    const evictable = this.kept.map((pages) => pages.length);
    return { capacity, free: [...this.numFree], evictable, in_use: minus(capacity, this.room()) };
  }

  /** Return the state of every page, by lane. */
  pageSets() {
    const inState = (state) => this.everyLane((lane) => this.pagesIn(lane, state));
    return { free: inState(FREE), evictable: inState(EVICTABLE), in_use: inState(IN_USE) };
  }

  // -- lanes and pages ---------------------------------------------------------------------------------------------

  everyLane(value) {
    return Array.from({ length: this.cpSize }, (_, lane) => value(lane));
  }

  pagesIn(lane, state) {
    const pages = Array.from({ length: this.lanePages }, (_, row) => row * this.cpSize + lane + 1);
    return pages.filter((page) => this.state[page] === state);
  }

  lane(page) {
    return (page - 1) % this.cpSize;
  }

  holds(page) {
    return page >= 1 && page <= this.lastPage;
  }

  room() {
    return this.numFree.map((count, lane) => count + this.kept[lane].length);
  }

  // -- decisions ---------------------------------------------------------------------------------------------------

  /** Split each request on its own: 2 * cpSize blocks, dealt to the ranks upwards and back downwards. */
  planned(batch) {
    return batch.map(({ prefix_tokens: prefix, extend_tokens: extend }) => {
      if (prefix < 0) throw new Rejected("prefix_negative", prefix);
      if (prefix % this.pageSize !== 0) throw new Rejected("prefix_not_page_aligned", prefix);
      if (extend < 1) throw new Rejected("extend_empty", extend);
      const pages = Math.ceil(extend / this.pageSize);
      const blocks = 2 * this.cpSize;
      return Array.from({ length: blocks }, (_, block) => {
        const length = Math.floor(pages / blocks) + (block < pages % blocks ? 1 : 0);
        return new Array(length).fill(Math.min(block, blocks - 1 - block));
      }).flat();
    });
  }

  needed(plan) {
    return this.everyLane((lane) => plan.flat().filter((owner) => owner === lane).length);
  }

  evict(counts) {
    const victims = counts.flatMap((count, lane) => this.kept[lane].slice(0, count));
    for (const page of victims) this.move(page, FREE);
    return victims;
  }

  take(owners) {
    const taken = this.needed([owners]).map((count, lane) => this.run(lane, count));
    const pages = owners.map((owner) => taken[owner].shift());
    for (const page of pages) this.move(page, IN_USE);
    return pages;
  }

  /** Return the first free pages of a lane that are neighbours there, or its lowest where no run is long enough. */
  run(lane, count) {
    const free = this.pagesIn(lane, FREE);
    const reach = (count - 1) * this.cpSize;
    const start = free.findIndex((page, index) => free[index + count - 1] === page + reach);
    return free.slice(Math.max(0, start), Math.max(0, start) + count);
  }

  locations(pages, tokens) {
    return Array.from({ length: tokens }, (_, token) => {
      return pages[Math.floor(token / this.pageSize)] * this.pageSize + (token % this.pageSize);
    });
  }

  move(page, state) {
    const lane = this.lane(page);
    if (this.state[page] === EVICTABLE) this.kept[lane].splice(this.kept[lane].indexOf(page), 1);
    this.numFree[lane] += (state === FREE ? 1 : 0) - (this.state[page] === FREE ? 1 : 0);
    this.state[page] = state;
  }

  checkNamed(pages, allowed) {
    pages.forEach((page, index) => {
      if (!this.holds(page)) throw new Rejected("page_outside_pool", page);
      if (pages.indexOf(page) !== index) throw new Rejected("page_named_twice", page);
      if (!allowed.includes(this.state[page])) throw new Rejected("page_not_allocated", page);
    });
  }
}

module.exports = { CapacityWait, Pool, Rejected };
