import type { Props } from '../ui.ts';
import type { ListedDelivery } from './day-list.ts';

/** The drives of the last week, for signed-in persons on site; loaded when it is opened. */
export function Days(props: Props) {
  const { viewer, ui, t } = props;
  if (viewer.readOnly || !viewer.signedIn) return null;
  return (
    <details
      id="days"
      class="part plain"
      onToggle={(event) => ui.act?.openDays((event.currentTarget as unknown as { readonly open: boolean }).open)}
    >
      <summary>
        <h2>{t.delivery.days}</h2>
      </summary>
      {ui.act === null ? <p>{t.delivery.daysNeedScript}</p> : <List {...props} />}
    </details>
  );
}

function List({ ui: { days }, t, f }: Props) {
  if (days.state === 'closed') return null;
  if (days.state === 'loading') return <p aria-busy="true">{t.service.loading}</p>;
  if (days.state === 'refused') {
    return (
      <p class="alarm" role="alert">
        {t.refusals[days.code] ?? t.ui.notPossible}
      </p>
    );
  }
  const { deliveries, more, unreadable, lost, trouble } = days.list;
  const gaps = more + unreadable + lost > 0 || trouble !== null;
  return (
    <>
      {gaps && <p class="alarm">{t.delivery.daysIncomplete}</p>}
      {deliveries.length === 0 ? (
        <p>{t.delivery.daysEmpty}</p>
      ) : (
        <table>
          <thead>
            <tr>
              {t.delivery.daysColumns.map((name) => (
                <th key={name}>{name}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {deliveries.map((one) => (
              <tr key={one.id}>
                <td>
                  <time dateTime={one.begunAt}>{f.time(one.begunAt)}</time>
                </td>
                <td>{one.endedAt === null ? '–' : f.time(one.endedAt)}</td>
                <td>{t.delivery.goal[one.kind](one.name === null ? '' : f.named(one.name, one.title))}</td>
                <td>{one.by === null ? t.ui.notStated : t.delivery.orderedBy[one.by]}</td>
                <td>
                  {t.delivery.results[one.result]}
                  {reasonOf(one)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function reasonOf({ reason }: ListedDelivery) {
  if (reason === null) return null;
  return (
    <small lang="en" class="technical">
      {' '}
      {reason}
    </small>
  );
}
