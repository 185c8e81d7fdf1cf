import type { Props } from '../ui.ts';
import { searchStations } from './search.ts';

const DIGITS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '0'];

interface FinderProps extends Props {
  /** Number of stations. */
  readonly found: number;
}

/** The search for a station: by keyboard, or by a pad of digits that covers neither the list nor STOPP. */
export function Finder({ state, ui, t, found }: FinderProps) {
  const { act, query, isPadOpen } = ui;
  return (
    <search class="finder">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // What stands there now may not be painted yet.
          const typed = event.currentTarget.querySelector('input')?.value ?? '';
          const [only, ...more] = searchStations(state.site.stations, typed);
          if (only !== undefined && more.length === 0 && typed.trim() !== '')
            act?.choose({ kind: 'station', name: only.name });
        }}
      >
        <div class="finder-line">
          <input
            type="search"
            aria-label={t.ui.search}
            placeholder={t.ui.search}
            autocomplete="off"
            enterkeyhint="search"
            dir="auto"
            disabled={act === null}
            value={query}
            onInput={({ currentTarget }) => act?.search(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Escape' || query === '') return;
              event.preventDefault();
              act?.search('');
            }}
          />
          <button
            type="button"
            disabled={act === null}
            aria-expanded={isPadOpen}
            onClick={() => act?.openPad(!isPadOpen)}
          >
            {t.ui.digits}
          </button>
        </div>
        {isPadOpen && (
          <fieldset class="pad" aria-label={t.ui.pad}>
            {DIGITS.map((digit, at) => (
              <button
                type="button"
                key={digit}
                style={{ order: at < 5 ? at : at + 1 }}
                onClick={() => act?.search(`${query}${digit}`)}
              >
                {digit}
              </button>
            ))}
            <button
              type="button"
              style={{ order: 5 }}
              aria-label={t.ui.deleteLast}
              onClick={() => act?.search(Array.from(query).slice(0, -1).join(''))}
            >
              ⌫
            </button>
            <button type="button" style={{ order: 12 }} aria-label={t.ui.clearSearch} onClick={() => act?.search('')}>
              ✕
            </button>
          </fieldset>
        )}
        <p class="found" role="status">
          {query.trim() !== '' && t.found(found)}
        </p>
      </form>
    </search>
  );
}
