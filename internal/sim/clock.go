package main

import (
	"context"
	"time"
)

// clock is virtual time: each look at it lets a little pass. It survives processes, and may jump.
type clock struct {
	w   *world
	now time.Time
}

// Now implements stream.Clock.
func (c *clock) Now() time.Time {
	c.now = c.now.Add(time.Millisecond)
	if p := c.w.running; p != nil && p.jumps > 0 && c.w.chance.IntN(200) == 0 {
		p.jumps--
		d := time.Duration(c.w.chance.IntN(7200)-3600) * time.Second
		c.now = c.now.Add(d)
		c.w.hit(clockJump)
		c.w.trace.add("clock", "", int64(d), 0)
	}
	return c.now
}

// Sleep implements stream.Clock.
func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	return ctx.Err()
}
