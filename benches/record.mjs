// npm run bench -- record [NAME…]     runs the benches of the results page and writes benches/RESULTS.md
//
// Reports are kept in benches/results.json, one per bench and size, each with its date and machine; the page is drawn from
// all of them, so that a bench can be repeated alone. Run it on a machine that does nothing else.
import { readFileSync, existsSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const DATA = join(here, 'results.json')
const PAGE = join(here, 'RESULTS.md')

/** The page's parts: a bench and the sizes it is run at; without sizes its own. */
const PARTS = [
  { title: 'Linear scan', bench: 'scan' },
  { title: 'Search on a sealed index', bench: 'search', sizes: [1_000_000, 10_000_000, 50_000_000, 100_000_000] },
  { title: 'Check-and-add on a live index', bench: 'stream', sizes: [1_000_000, 10_000_000, 50_000_000] },
  { title: 'A window of two days from TypeScript', bench: 'window', sizes: [1_000_000, 10_000_000, 50_000_000] },
  { title: 'All pairs within distance 3', bench: 'join', sizes: [1_000_000, 10_000_000, 50_000_000] },
  { title: 'All pairs above a Jaccard similarity', bench: 'overlap' },
  { title: 'From text to fingerprint', bench: 'fingerprint' },
  { title: 'Presets by kind of text, one core and all', bench: 'corpora' },
  { title: 'Chinese words', bench: 'segment' },
  { title: 'Batches from TypeScript', bench: 'batch' },
  { title: 'Handing texts to the workers', bench: 'intake' },
  { title: 'Timers meanwhile', bench: 'timers' },
  { title: 'MinHash', bench: 'minhash' },
  { title: 'The longest sentences', bench: 'sentences' },
]

const millions = (size) => `${(size / 1e6).toLocaleString('en-US')} M`

/** What decides how fast this machine is. */
export function machine() {
  let simd = ''
  if (existsSync('/proc/cpuinfo')) {
    const flags = new Set(/^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1].trim().split(' '))
    simd = ['avx512_vpopcntdq', 'avx512bw', 'avx2'].find((flag) => flags.has(flag)) ?? ''
  }
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`
  return [cpus()[0]?.model.trim() ?? 'unknown processor', `${cpus().length} cores`, simd, memory, `Node ${process.version}`].filter(Boolean).join(', ')
}

/** Runs the benches named, or all; `run` makes the report of one. */
export async function record(wanted, run) {
  const results = existsSync(DATA) ? JSON.parse(readFileSync(DATA, 'utf8')) : {}
  for (const { bench, sizes = [undefined] } of PARTS) {
    if (wanted.length > 0 && !wanted.includes(bench)) continue
    for (const size of sizes) {
      const options = size === undefined ? [] : ['--size', String(size)]
      console.error([bench, ...options].join(' '))
      const report = await run(bench, options)
      results[[bench, ...options].join(' ')] = { date: new Date().toISOString().slice(0, 10), machine: machine(), ...report }
      writeFileSync(DATA, `${JSON.stringify(results, null, 1)}\n`)
    }
  }
  writeFileSync(PAGE, page(results))
}

const number = (value) => (value >= 1000 ? Math.round(value).toLocaleString('en-US') : value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toPrecision(3))
const table = (rows) => rows.map((row, at) => `| ${row.join(' | ')} |${at === 0 ? `\n|---|${row.slice(1).map(() => '--:').join('|')}|` : ''}`).join('\n')

/** Whether a ratio keeps its goal: `<= 4 at 50 M` is asked for at that size alone. */
function missed({ ratio, goal }, size) {
  const [, sign, limit, at] = /^(<=|>=) ([\d.]+)(?: at ([\d.]+) M)?/.exec(goal ?? '') ?? []
  if (sign === undefined || (at !== undefined && size !== undefined && size !== Number(at) * 1e6)) return false
  return sign === '<=' ? ratio > Number(limit) : ratio < Number(limit)
}

function part({ title, bench, sizes = [undefined] }, results, misses) {
  const runs = sizes.flatMap((size) => {
    const report = results[size === undefined ? bench : `${bench} --size ${size}`]
    return report === undefined ? [] : [{ size, report }]
  })
  if (runs.length === 0) return []
  const names = [...new Set(runs.flatMap(({ report }) => report.rows.map(({ what }) => what)))]
  const head = ['', ...runs.map(({ size }) => (size === undefined ? 'measured' : millions(size))), 'against', 'goal']
  const rows = names.map((name) => {
    let [limit, goal] = ['', '']
    const cells = runs.map(({ size, report }) => {
      const row = report.rows.find(({ what }) => what === name)
      if (row === undefined) return '–'
      const { value, unit, against } = row
      if (against === undefined) return `${number(value)} ${unit}`
      limit = against.what
      goal = against.goal ?? goal
      const miss = missed(against, size)
      if (miss) misses.push(`${title}, ${[name, size && millions(size)].filter(Boolean).join(', ')}: ${number(against.ratio)} × ${against.what} (goal ${against.goal})`)
      return `${number(value)} ${unit}, ${miss ? `**${number(against.ratio)} ×**` : `${number(against.ratio)} ×`}`
    })
    return [name, ...cells, limit, goal]
  })
  const setups = runs.map(({ size, report }) => `- ${[size && millions(size), report.setup].filter(Boolean).join(': ')}. ${report.date}, ${report.machine}.`)
  return [`## ${title}`, `\`npm run bench -- ${bench}${sizes[0] === undefined ? '' : ' --size N'}\``, table([head, ...rows]), setups.join('\n')]
}

function page(results) {
  const misses = []
  const parts = PARTS.flatMap((one) => part(one, results, misses))
  return `${[
    '# Measured',
    'Made by `npm run bench -- record` from `results.json`; do not edit. A ratio (×) is that of the row to what stands under “against”, measured in the\nsame process a moment before; a goal is a limit of that ratio. Times of one thread are processor time.',
    `## Goals missed\n\n${misses.length > 0 ? misses.map((miss) => `- ${miss}`).join('\n') : 'None.'}`,
    ...parts,
  ].join('\n\n')}\n`
}
