"""Folds the receipts of an organization into rows, inside Redis.

The log of receipts becomes one row an hour and origin, however many requests there were. It is
done in Redis in one step: a process that is killed loses nothing and counts nothing twice.
"""

from typing import Any

import redis

from shared.intake.receipts.keys import keys_of

# Rows of an organization in an hour; what comes from further origins is counted in rows with the
# sender `other`, one for each key and way in.
MAX_ROWS = 500
OTHER = "other"
# Names of reasons and attributes of an organization in an hour; further ones are counted as
# `other`.
MAX_NAMES = 1000
# Bodies that an organization's requests are compared with: at least the last of this number.
MAX_BODIES = 100_000
DUPLICATE_SECS = 24 * 3600
# Redis serves no other client meanwhile: some milliseconds.
_AT_ONCE = 200

# Rows and names that an hour has are known for as long as receipts of the hour usually come.
_FOLD = f"""
local org = KEYS[1]
local log, rows = org .. ':log', org .. ':rows'

local function admitted(kind, hour, name, most)
    local known = org .. kind .. hour
    if redis.call('SISMEMBER', known, name) == 1 then return true end
    if redis.call('SCARD', known) >= most then return false end
    redis.call('SADD', known, name)
    redis.call('EXPIRE', known, 7200)
    return true
end

local function came_before(digest, now)
    local recent, older = org .. ':bodies', org .. ':older_bodies'
    local found = redis.call('HMGET', recent, digest, 'since')
    local before = tonumber(found[1] or redis.call('HGET', older, digest) or -math.huge)
    local since = tonumber(found[2] or -math.huge)
    if now - since > {DUPLICATE_SECS} or redis.call('HLEN', recent) > {MAX_BODIES} then
        if found[2] then
            redis.call('UNLINK', older)
            redis.call('RENAME', recent, older)
            redis.call('EXPIRE', older, {DUPLICATE_SECS})
        end
        redis.call('HSET', recent, 'since', now)
        redis.call('EXPIRE', recent, {2 * DUPLICATE_SECS})
    end
    redis.call('HSET', recent, digest, now)
    return now - before < {DUPLICATE_SECS}
end

local function row_of(hour, origin)
    local row = hour .. '\\n' .. origin
    if redis.call('HEXISTS', rows, row) == 1 or admitted(':origins:', hour, row, {MAX_ROWS}) then
        return row
    end
    return hour .. '\\n' .. string.match(origin, '^[^\\n]*\\n[^\\n]*\\n') .. '{OTHER}\\n\\n'
end

local function add(tally, hour, name, n)
    if not tally[name] then
        local kind = string.match(name, '^%l+:')
        if kind and not admitted(':names:', hour, name, {MAX_NAMES}) then
            name = kind .. '{OTHER}'
        end
    end
    local is_largest = string.byte(name) == 62
    tally[name] = is_largest and math.max(tally[name] or n, n) or (tally[name] or 0) + n
end

for _ = 1, {_AT_ONCE} do
    local packed = redis.call('LPOP', log)
    if not packed then break end
    local at_us, digest, tallies = unpack(cmsgpack.unpack(packed))
    local hour = math.floor(at_us / 3600e6)
    local came = digest ~= '' and came_before(digest, math.floor(at_us / 1e6))
    for origin, added in pairs(tallies) do
        if came then added.duplicate = added.accepted end
        local row = row_of(hour, origin)
        local old = redis.call('HGET', rows, row)
        local tally = old and cmsgpack.unpack(old) or {{}}
        tally['<first_us'] = math.min(tally['<first_us'] or at_us, at_us)
        tally['>last_us'] = math.max(tally['>last_us'] or at_us, at_us)
        for name, n in pairs(added) do add(tally, hour, name, n) end
        redis.call('HSET', rows, row, cmsgpack.pack(tally))
    end
end
return redis.call('LLEN', log)
"""


def fold(client: redis.Redis, org_id: str) -> None:
    """Folds all receipts of the log into rows."""
    left: Any = 1
    while left:
        left = client.eval(_FOLD, 1, keys_of(org_id).base)
