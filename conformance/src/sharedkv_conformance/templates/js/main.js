"use strict";
// The pool on the SharedKV wire, version 1: JSON lines in, JSON lines out.
//
// Knows messages and how each becomes a call of the pool. Decides nothing about pages.

const fs = require("node:fs");
const { CapacityWait, Pool, Rejected } = require("./pool.js");

const DESCRIPTION = {
  name: "example-javascript",
  version: "1.0",
  features: ["allocation", "probe.pages"],
  limits: {},
  environment: { node: process.version },
};

// Operations of the contract that this engine does not claim, and the feature that each belongs to.
const UNCLAIMED = new Map([
  ["planning.split", "planning"],
  ["allocation.make_room", "allocation.free-room"],
  ["allocation.snapshot", "allocation.snapshot"],
  ["allocation.restore", "allocation.snapshot"],
  ["probe.cost", "probe.cost"],
  ["probe.events", "probe.events"],
]);

const CALLS = new Map([
  ["allocation.extend", (pool, args) => pool.extend(args.batch)],
  ["allocation.admit", (pool, args) => pool.admit(args.batch)],
  ["allocation.retain", (pool, args) => pool.retain(args.pages)],
  ["allocation.release", (pool, args) => pool.release(args.pages)],
  ["allocation.release_locations", (pool, args) => pool.releaseLocations(args.locations)],
  ["allocation.allocate_flat", (pool) => pool.allocateFlat()],
  ["allocation.owners", (pool, args) => pool.owners(args.pages)],
  ["allocation.lanes", (pool) => pool.lanes()],
  ["probe.pages", (pool) => pool.pageSets()],
]);

const sessions = new Map();
let lastSession = 0;
let isRunning = true;

const PROCESS_CALLS = new Map([
  ["hello", ({ wire }) => {
    if (!wire.includes(1)) throw new Error("wanted wire 1");
    return { wire: 1, description: DESCRIPTION };
  }],
  ["open", ({ config }) => {
    sessions.set(lastSession + 1, new Pool(config));
    return { session: ++lastSession };
  }],
  ["shutdown", () => {
    isRunning = false;
  }],
]);

function perform(op, session, args) {
  if (PROCESS_CALLS.has(op)) return PROCESS_CALLS.get(op)(args);
  if (!sessions.has(session)) throw new Error(`unknown session ${session}`);
  if (op === "close") return sessions.delete(session) && null;
  if (!CALLS.has(op)) throw new Error(`unknown operation ${op}`);
  return CALLS.get(op)(sessions.get(session), args);
}

function answer(line) {
  let id = null;
  try {
    const request = JSON.parse(line);
    id = request.id ?? null;
    if (UNCLAIMED.has(request.op)) return { id, unsupported: UNCLAIMED.get(request.op) };
    return { id, ok: perform(request.op, request.session, request.args ?? {}) ?? null };
  } catch (error) {
    if (error instanceof Rejected || error instanceof CapacityWait) return { id, err: error.fields };
    return { id, error: { kind: "protocol", message: error.message } };
  }
}

// The descriptors of the wire stand in the environment; without them the program speaks on standard input and output.
const input = Number(process.env.SHAREDKV_WIRE_IN ?? 0);
const output = Number(process.env.SHAREDKV_WIRE_OUT ?? 1);
const chunk = Buffer.alloc(1 << 16);
let pending = Buffer.alloc(0);
for (let count = 1; isRunning && count > 0; ) {
  count = fs.readSync(input, chunk);
  pending = Buffer.concat([pending, chunk.subarray(0, count)]);
  const end = pending.lastIndexOf("\n") + 1;
  const lines = pending.subarray(0, end).toString().split("\n").slice(0, -1);
  pending = pending.subarray(end);
  const answers = Buffer.from(lines.map((line) => `${JSON.stringify(answer(line))}\n`).join(""));
  for (let done = 0; done < answers.length; ) done += fs.writeSync(output, answers, done);
}
