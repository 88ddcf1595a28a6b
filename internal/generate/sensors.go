package generate

import (
	"math"
	"math/rand/v2"
)

// sensors is readings of devices in turn, one a second each: a temperature that swings with the hour of the day, each
// device around a level of its own, and one reading in 200 too hot by 30 degrees. One reading in 50 comes up to 30
// seconds late.
type sensors struct {
	next    int
	devices int
	rnd     *rand.Rand
	time    stamper
}

func sensorsKind() Kind {
	return Kind{
		Name:   "sensors",
		Doc:    "temperatures of devices (100 unless told), one a second each: device_id, event_time, temperature",
		Schema: "device_id STRING, event_time TIMESTAMP, temperature DOUBLE",
		Key:    "device_id",
		rows: func(p Part) Rows {
			devices := p.Keys
			if devices == 0 {
				devices = 100
			}
			return &sensors{next: p.First, devices: devices, rnd: source(p)}
		},
	}
}

func (s *sensors) Append(dst []byte) []byte {
	device := s.next % s.devices
	ms := int64(s.next) * 1000 / int64(s.devices)
	hour := float64(ms%dayMs) / (60 * 60 * 1000)
	temperature := 20 + float64(device%7) + 5*math.Sin((hour-9)/24*2*math.Pi) + s.rnd.NormFloat64()/2
	if s.rnd.IntN(200) == 0 {
		temperature += 30
	}
	if s.rnd.IntN(50) == 0 {
		ms = max(0, ms-s.rnd.Int64N(30_000))
	}
	dst = append(dst, `{"device_id":"d`...)
	dst = appendPadded(dst, device, 4)
	dst = append(dst, `","event_time":"`...)
	dst = s.time.append(dst, startMs()+ms)
	dst = append(dst, `","temperature":`...)
	dst = appendHundredths(dst, int64(max(0, temperature)*100+0.5))
	s.next++
	return append(dst, '}')
}
