/**
 * The frames of the tunnel, encoded and decoded by hand from the description of the wire: a second implementation, which
 * shares no code with src/, so that a misreading there is found by a peer that does not share it.
 */

export const kinds = {
  data: 1,
  streamStart: 2,
  streamReset: 3,
  sessionReset: 4,
  serviceIds: 5,
  connectionStart: 6,
  connectionReset: 7,
} as const;

export interface Frame {
  type: number;
  stream: number;
  ignorable: boolean;
  payload: Buffer;
  service: string;
  offered: string[];
  connection: number;
  /** Numbers of fields that the description does not have. */
  foreign: number[];
}

/** Field numbers and wire types: 0 varint, 2 length-delimited. */
export function pack(part: Partial<Frame> & { readonly type: number }): Buffer {
  const body: Buffer[] = [];
  const number = (field: number, value: number) => {
    if (value !== 0) body.push(Buffer.from([field * 8]), varint(value));
  };
  const bytes = (field: number, value: Buffer) => body.push(Buffer.from([field * 8 + 2]), varint(value.length), value);
  number(1, part.type);
  number(2, part.stream ?? 0);
  number(3, part.ignorable ? 1 : 0);
  if (part.payload && part.payload.length > 0) bytes(4, part.payload);
  if (part.service) bytes(5, Buffer.from(part.service, 'utf8'));
  for (const one of part.offered ?? []) bytes(6, Buffer.from(one, 'utf8'));
  number(7, part.connection ?? 0);
  return framed(Buffer.concat(body));
}

/** Two bytes of length, big-endian, before a body. */
export function framed(body: Buffer): Buffer {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(body.length);
  return Buffer.concat([head, body]);
}

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = value;
  while (rest > 127) {
    out.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  out.push(rest);
  return Buffer.from(out);
}

/** Throws RangeError where the body is not a message. */
export function unpack(body: Buffer): Frame {
  const frame: Frame = {
    type: 0,
    stream: 0,
    ignorable: false,
    payload: Buffer.alloc(0),
    service: '',
    offered: [],
    connection: 0,
    foreign: [],
  };
  let at = 0;
  const take = () => {
    let value = 0;
    for (let shift = 0; shift < 10; shift += 1) {
      if (at >= body.length) throw new RangeError('cut varint');
      const byte = body[at] as number;
      at += 1;
      value += (byte % 128) * 2 ** (7 * shift);
      if (byte < 128) return value;
    }
    throw new RangeError('endless varint');
  };
  const chunk = () => {
    const size = take();
    if (at + size > body.length) throw new RangeError('cut field');
    at += size;
    return body.subarray(at - size, at);
  };
  while (at < body.length) {
    const key = take();
    const [field, wire] = [Math.floor(key / 8), key % 8];
    if (wire === 0) {
      const value = take();
      if (field === 1) frame.type = value;
      else if (field === 2) frame.stream = value;
      else if (field === 3) frame.ignorable = value !== 0;
      else if (field === 7) frame.connection = value;
      else frame.foreign.push(field);
    } else if (wire === 2) {
      const value = chunk();
      if (field === 4) frame.payload = value;
      else if (field === 5) frame.service = value.toString('utf8');
      else if (field === 6) frame.offered.push(value.toString('utf8'));
      else frame.foreign.push(field);
    } else throw new RangeError(`wire type ${wire}`);
  }
  return frame;
}

/** Collects bytes in pieces of any size and gives the bodies of whole frames. */
export function bodies(onBody: (body: Buffer, whole: Buffer) => void): (piece: Buffer) => void {
  let kept: Buffer[] = [];
  let size = 0;
  return (piece) => {
    kept.push(piece);
    size += piece.length;
    if (size < 2) return;
    let all = kept.length === 1 ? piece : Buffer.concat(kept);
    while (all.length >= 2) {
      const end = 2 + all.readUInt16BE(0);
      if (all.length < end) break;
      onBody(all.subarray(2, end), all.subarray(0, end));
      all = all.subarray(end);
    }
    kept = [all];
    size = all.length;
  };
}
