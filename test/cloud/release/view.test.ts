import { describe, expect, it } from 'vitest';
import type { ReleaseState } from '../../../src/lib/cloud/release/state.ts';
import { viewRelease } from '../../../src/lib/cloud/release/view.ts';

describe('the view of the release agent', () => {
  it('is not ready before its state was read, because an earlier release would then appear as a new one', () => {
    const viewOf = (state: ReleaseState | null) =>
      viewRelease({
        release: { keyFile: 'k.pem', dir: '/releases', healthWithinS: 180 },
        launched: { dir: '/releases', folder: null },
        version: '1.0.0',
        store: { current: () => state, installed: () => [], failure: () => null } as never,
        isManaged: true,
        isStarted: true,
        progress: null,
      });
    expect(viewOf(null)).toMatchObject({ status: 'failing', run: null });
    expect(viewOf({ run: null, previous: null } as never)).toMatchObject({ status: 'ready', run: null });
  });
});
