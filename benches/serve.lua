-- What wrk asks `serve` in serve.mjs: each request checks the next text, under a key of its own. A line of BODIES is a body up to its key.
local bodies, at = {}, 0
for line in io.lines(os.getenv('BODIES')) do bodies[#bodies + 1] = line end
wrk.method = 'POST'
wrk.headers['Content-Type'] = 'application/json'
wrk.headers['Authorization'] = 'Bearer ' .. os.getenv('TOKEN')

function request()
  at = at + 1
  return wrk.format(nil, nil, nil, bodies[(at - 1) % #bodies + 1] .. at .. '"}')
end

function done(summary, latency)
  local e = summary.errors
  local failed = e.connect + e.read + e.write + e.status + e.timeout
  io.write(string.format('RESULT %d %d %d %d\n', summary.requests, summary.duration, failed, latency:percentile(99)))
end
