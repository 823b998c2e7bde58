-- Spend one call of a key's allowance, or say how long to wait; atomic, and on the server's own clock.
-- KEYS: the key's bucket, the hash of last uses. ARGV: calls a minute, the key's id.
-- A bucket holds the time at which it will be full again (the generic cell rate algorithm): each call
-- moves it on by one interval, and a call that would move it further ahead than a minute is refused.
-- Gives: allowed (1 or 0), calls left, seconds until the next one, seconds until the bucket is full.
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local interval = 60 / tonumber(ARGV[1])
local full_at = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local wanted = full_at + interval
if wanted - now > 60.0005 then
  return {0, 0, math.ceil(wanted - now - 60), math.ceil(full_at - now)}
end
redis.call('SET', KEYS[1], string.format('%.6f', wanted), 'PX', math.ceil((wanted - now) * 1000))
redis.call('HSET', KEYS[2], ARGV[2], string.format('%.6f', now))
return {1, math.floor((60 - (wanted - now)) / interval + 0.001), 0, math.ceil(wanted - now)}
