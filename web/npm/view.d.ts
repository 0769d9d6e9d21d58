/** What a view says of its state, in the event memtide-state. */
export interface State {
  type: "state";
  /** The fragment of the link to what is shown. */
  link: string;
  budgetBytes: number;
  peakBytes: number;
  stepMs: number;
}

/** Why something was refused, in the event memtide-error. */
export interface Failure {
  type: "error";
  code: "start" | "open" | "budget" | "limit" | "message";
  text: string;
}

/** What can be sent to a view. */
export type Message =
  | { type: "open"; link: string }
  | { type: "open"; json: string; title?: string }
  | { type: "open"; csv: string; title?: string }
  | { type: "open"; buffer: ArrayBuffer; title?: string }
  | { type: "set"; params: Record<string, string> }
  | { type: "get" }
  | { type: "theme"; value: "light" | "dark" | "auto" };

/** The element <memtide-view>. Its attributes are in MemtideViewAttributes. */
export interface MemtideView extends HTMLElement {
  /** Starts the view in the place of its picture. */
  start(): void;
  /** Sends a message to the view; it hears none before its event memtide-ready. */
  send(message: Message): void;
  addEventListener<K extends keyof MemtideViewEvents>(type: K, listener: (event: MemtideViewEvents[K]) => void): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

/** The events of the element, all of which bubble. */
export interface MemtideViewEvents {
  "memtide-ready": CustomEvent<{ type: "ready"; version: number; height: number }>;
  "memtide-size": CustomEvent<{ type: "size"; height: number }>;
  "memtide-state": CustomEvent<State>;
  "memtide-select": CustomEvent<{ type: "select"; name: string; text: string }>;
  "memtide-error": CustomEvent<Failure>;
  "memtide-escape": CustomEvent<{ type: "escape" }>;
}

/** The attributes of the element; changing one changes the view. */
export interface MemtideViewAttributes {
  /** The address of a memtide site, which begins with https:// or http://. */
  src?: string;
  /** A link to the page, or what stands behind its #. */
  link?: string;
  preset?: string;
  data?: string;
  /** A size such as 12GiB, or a share of keeping everything such as 60%. */
  budget?: string;
  strategy?: string;
  device?: string;
  bandwidth?: string;
  duplex?: "half" | "full";
  transfers?: "whole" | "streamed";
  allocator?: string;
  range?: string;
  select?: string;
  /** The parts and their order, such as time,curve,mem. */
  show?: string;
  /** budget adds a slider. */
  controls?: "budget";
  title?: string;
  theme?: "light" | "dark" | "auto" | "host";
  /** In pixels; without it the view is as high as what is in it. */
  height?: string | number;
}

declare global {
  interface HTMLElementTagNameMap {
    "memtide-view": MemtideView;
  }
}
