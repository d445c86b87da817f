std = 'luajit'
globals = { 'vim' }
max_line_length = 100
-- A callback takes what it is given, used or not.
unused_args = false
