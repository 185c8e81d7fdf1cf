import { describe, expectTypeOf, it } from 'vitest';
import type { SessionRecord } from '../../src/lib/tunnel/records/schema.ts';
import { type ProxyProcessOptions, startProxy } from '../../src/lib/tunnel/session/proxy-process.ts';
import {
  type Checked,
  type Ended,
  type EndFigures,
  end,
  type Notified,
  pass,
  type Refused,
  type Running,
  refuse,
  run,
  type SessionState,
  type StartRecord,
} from '../../src/lib/tunnel/session/state.ts';

declare const received: Notified;
declare const checked: Checked;
declare const running: Running;
declare const ended: Ended;
declare const refused: Refused;
declare const given: Parameters<typeof pass>[1];
declare const start: StartRecord;
declare const anyRecord: SessionRecord;
declare const figures: EndFigures;
declare const rest: Omit<ProxyProcessOptions, 'running'>;
const why = { reason: 'not-recorded', detail: '' } as const;

describe('a support session', () => {
  it('goes from notified to checked, running and ended', () => {
    expectTypeOf(pass(received, given)).toEqualTypeOf<Checked>();
    expectTypeOf(run(checked, start)).toEqualTypeOf<Running>();
    expectTypeOf(end(running, figures)).toEqualTypeOf<Ended>();
    expectTypeOf(refuse(received, why)).toEqualTypeOf<Refused>();
    expectTypeOf(refuse(checked, why)).toEqualTypeOf<Refused>();
  });

  it('has no other state', () => {
    expectTypeOf<SessionState['state']>().toEqualTypeOf<'notified' | 'checked' | 'running' | 'ended' | 'refused'>();
  });

  it('skips no state', () => {
    // @ts-expect-error not checked
    run(received, start);
    // @ts-expect-error not checked and not recorded
    end(received, figures);
    // @ts-expect-error without a record of its start there is nothing to end
    end(checked, figures);
  });

  it('never goes back', () => {
    // @ts-expect-error checked already
    pass(checked, given);
    // @ts-expect-error runs already
    pass(running, given);
    // @ts-expect-error runs already
    run(running, start);
    // @ts-expect-error runs already, so it ends
    refuse(running, why);
    // @ts-expect-error ended already
    run(ended, start);
    // @ts-expect-error ended already
    end(ended, figures);
    // @ts-expect-error refused already
    pass(refused, given);
    // @ts-expect-error refused already
    run(refused, start);
    // @ts-expect-error refused already
    end(refused, figures);
  });

  it('starts no proxy before its start is recorded and its clock is armed', () => {
    startProxy({ ...rest, running });
    // @ts-expect-error not recorded
    startProxy({ ...rest, running: checked });
    // @ts-expect-error not checked
    startProxy({ ...rest, running: received });
    // @ts-expect-error ended
    startProxy({ ...rest, running: ended });
    // @ts-expect-error another record than that of a start
    run(checked, anyRecord);
    // @ts-expect-error no clock
    pass(received, { session: 'x', replaces: null });
  });
});
