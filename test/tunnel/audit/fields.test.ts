import { describe, expect, it } from 'vitest';
import { readFields } from '../../../src/lib/tunnel/records/line.ts';
import { endOf, linesOf } from '../records/bodies.ts';

const [line = ''] = linesOf([endOf(1, 'closed-by-cloud', { durationS: 777 })]);

/** Whether a record with this duration is one that gw has written. */
function isAsWritten(duration: string): boolean {
  return readFields(Buffer.from(line.replace(':777,', `:${duration},`).slice(0, -1))).ok;
}

describe('a number in a support record', () => {
  it.each(['1.560', '2.0', '0.0000001', '0.000', '999999999999999.123456', '01', '1e2'])(
    '%s is not as gw writes it',
    (duration) => void expect(isAsWritten(duration)).toBe(false),
  );

  it.each(['0', '0.5', '12.345', '0.000001', '999999999.123456', '999999999999999', 'null'])(
    '%s is as gw writes it',
    (duration) => void expect(isAsWritten(duration)).toBe(true),
  );
});
