import { expect, it } from 'vitest';
import type { ChassisMoves } from '../../src/lib/chassis/moves.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createCanceller } from '../../src/lib/motion/canceller.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { standInLink } from '../operator/stand-ins.ts';

function setUp(tries: number) {
  const clock = createFakeClock();
  const sent: PromiseWithResolvers<void>[] = [];
  const moves = {
    cancelCurrent() {
      const one = Promise.withResolvers<void>();
      sent.push(one);
      return one.promise;
    },
  } as unknown as ChassisMoves;
  const canceller = createCanceller({
    ...{ link: standInLink(), moves, clock, log: silentLog, tries },
    proofs: { requested: () => {}, acknowledged: () => {}, isAcknowledged: () => false },
    signal: () => new AbortController().signal,
  });
  const answers: [string, boolean][] = [];
  const cancel = (who: string) => void canceller.cancel(who).then((is) => answers.push([who, is]));
  const settle = () => clock.advance(0);
  return { clock, sent, cancel, answers, settle };
}

it('one cancel is sent for all that ask during another, and each is answered by the first one sent after it', async () => {
  const { sent, cancel, answers, settle } = setUp(3);
  cancel('first');
  for (const who of ['a', 'b', 'c']) cancel(who);
  sent[0]?.resolve();
  await settle();
  // Those who ask without end keep no one waiting.
  expect([sent.length, answers]).toEqual([2, [['first', true]]]);
  cancel('d');
  sent[1]?.resolve();
  await settle();
  expect([sent.length, answers.slice(1)]).toEqual([3, ['a', 'b', 'c'].map((who) => [who, true])]);
  sent[2]?.resolve();
  await settle();
  expect([sent.length, answers.at(-1)]).toEqual([3, ['d', true]]);
});

it('a cancel that is asked for as soon as another is answered is sent', async () => {
  const { sent, cancel, answers, settle } = setUp(3);
  cancel('first');
  const again = sent[0]?.promise.then(() => cancel('again'));
  sent[0]?.resolve();
  await again;
  await settle();
  expect(sent).toHaveLength(2);
  sent[1]?.resolve();
  await settle();
  expect(answers).toEqual(expect.arrayContaining([['again', true]]));
});

it('is not answered when the tries are used up, and asked for again it is sent again', async () => {
  const { clock, sent, cancel, answers, settle } = setUp(2);
  const lost = new GwError('CHASSIS_NOT_CONNECTED', 'lost');
  cancel('first');
  sent[0]?.reject(lost);
  await clock.advance(2_000);
  sent[1]?.reject(lost);
  await settle();
  expect([sent.length, answers]).toEqual([2, [['first', false]]]);
  cancel('second');
  sent[2]?.resolve();
  await settle();
  expect([sent.length, answers]).toEqual([
    3,
    [
      ['first', false],
      ['second', true],
    ],
  ]);
});
