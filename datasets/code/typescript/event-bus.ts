/** A typed event bus: handlers know the payload of the event they listen to. */

export type Unsubscribe = () => void;
type Handler<T> = (payload: T) => void | Promise<void>;

export interface ShopEvents {
  "basket:added": { sku: string; quantity: number };
  "basket:emptied": undefined;
  "order:placed": { id: `order-${number}`; totalCents: bigint; placedAt: Date };
}

export class EventBus<Events extends Record<string, unknown>> {
  private readonly handlers: { [Name in keyof Events]?: Set<Handler<Events[Name]>> } = {};

  constructor(private readonly onError: (error: unknown, event: keyof Events) => void = console.error) {}

  on<Name extends keyof Events>(name: Name, handler: Handler<Events[Name]>): Unsubscribe {
    const known = (this.handlers[name] ??= new Set());
    known.add(handler);
    return () => void known.delete(handler);
  }

  once<Name extends keyof Events>(name: Name, handler: Handler<Events[Name]>): Unsubscribe {
    const stop = this.on(name, async (payload) => {
      stop();
      await handler(payload);
    });
    return stop;
  }

  async emit<Name extends keyof Events>(name: Name, payload: Events[Name]): Promise<number> {
    const listeners = [...(this.handlers[name] ?? [])];
    const results = await Promise.allSettled(listeners.map(async (listener) => listener(payload)));
    for (const result of results) {
      if (result.status === "rejected") this.onError(result.reason, name);
    }
    return listeners.length;
  }
}

const bus = new EventBus<ShopEvents & Record<string, unknown>>();

bus.on("order:placed", ({ id, totalCents }) => {
  const euros = Number(totalCents) / 100;
  console.log(`${id}: ${euros.toLocaleString("de-DE", { style: "currency", currency: "EUR" })}`);
});

void bus.emit("order:placed", { id: "order-1042", totalCents: 129_950n, placedAt: new Date(2027, 4, 8) });
