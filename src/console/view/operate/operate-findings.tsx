import type { Finding, ProbeSample } from '@farthing/protocol/schema/operator';

const STATE_WORDS: Readonly<Record<Finding['state'], string>> = {
  problem: 'Problem',
  warning: 'Warning',
  ok: 'Good',
};
const ORDER: readonly Finding['state'][] = ['problem', 'warning', 'ok'];

/** The doctor's findings on this host, most urgent first. */
export function Doctor({ findings }: { findings: readonly Finding[] | undefined }) {
  return (
    <section class="card wide doctor" aria-labelledby="doctor-title">
      <h2 id="doctor-title">Doctor</h2>
      {findings ? (
        <table>
          <thead>
            <tr>
              <th scope="col">State</th>
              <th scope="col">Check</th>
              <th scope="col">Found</th>
            </tr>
          </thead>
          <tbody>
            {findings
              .toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
              .map(({ check, state, found, remedy }) => (
                <tr key={check + found}>
                  <td class="finding" data-state={state}>
                    {STATE_WORDS[state]}
                  </td>
                  <th scope="row">{check}</th>
                  <td>
                    {found}
                    {remedy !== undefined && <p class="quiet">{remedy}</p>}
                  </td>
                </tr>
              ))}
          </tbody>
        </table>
      ) : (
        <p class="quiet">Looking at the host…</p>
      )}
    </section>
  );
}

/** The probe's metrics, as they are. */
export function Probe({ samples }: { samples: readonly ProbeSample[] }) {
  return (
    <table>
      <tbody>
        {samples.map(({ name, labels, value, help }) => (
          <tr key={name + JSON.stringify(labels)}>
            <th scope="row" title={help}>
              <code>{name}</code> {Object.values(labels).join(', ')}
            </th>
            <td class="figure">{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
